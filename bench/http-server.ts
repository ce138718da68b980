import { readConfig, serve } from "dibs/server";
import { fastify } from "fastify";

/**
 * The server under test, in a process of its own: `dibs STORE` is the product, `bare` is the framework alone with an
 * answer of a task's size, parsed and schema-checked by nobody. Prints its port.
 */
const [kind, store, adminKey] = process.argv.slice(2);

if (kind === "bare") {
  const answer = JSON.stringify({ task: { id: "0".repeat(32), text: "x".repeat(850) } });
  const app = fastify({ logger: false });
  app.post("/v1/tasks/claim", (_request, reply) => reply.type("application/json").send(answer));
  await app.listen({ port: 0, host: "127.0.0.1" });
  console.log((app.server.address() as { port: number }).port);
} else {
  const limits = { DIBS_RATE_LIMIT: 1_000_000, DIBS_RATE_BURST: 1_000_000 };
  const served = await serve(
    readConfig({ DIBS_STORE: `sqlite:${store}`, DIBS_PORT: 0, DIBS_ADMIN_KEY: adminKey, DIBS_LOG: "error", ...limits }),
  );
  console.log(new URL(served.url).port);
  process.on("SIGTERM", () => void served.stop().then(() => process.exit(0)));
}
