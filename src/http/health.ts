import type { FastifyInstance } from "fastify";
import { JSON_TYPE, sendText } from "./headers.js";
import type { SendProblem } from "./problems.js";
import type { HttpOptions } from "./settings.js";

const OK = '{"status":"ok"}';

/** `/livez`: the process answers. `/readyz`: calls work, else the problem (503). Both without a key. */
export function mountHealth(app: FastifyInstance, options: Pick<HttpOptions, "isReady">, sendProblem: SendProblem) {
  let asking: Promise<void> | undefined;
  app.get("/livez", { config: { open: true } }, (_request, reply) => sendText(reply, 200, JSON_TYPE, OK));
  app.get("/readyz", { config: { open: true } }, (_request, reply) => {
    // Those who ask at one time share one look at the store: nobody without a key can keep it busy.
    asking ??= (async () => options.isReady())().finally(() => {
      asking = undefined;
    });
    asking.then(
      () => sendText(reply, 200, JSON_TYPE, OK),
      (thrown) => sendProblem(reply, thrown),
    );
  });
}
