import { randomBytes } from "node:crypto";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { DibsError } from "../contract/errors.js";
import { Admission } from "./admission.js";
import { connectionFault } from "./connection-fault.js";
import { mountConsole } from "./console-files.js";
import { credentialOf } from "./credential.js";
import { mountDocs } from "./docs-routes.js";
import { createGuards, unsupportedMediaType } from "./guards.js";
import { BASE_HEADERS } from "./headers.js";
import { mountHealth } from "./health.js";
import { mountMcp } from "./mcp-route.js";
import { mountOperations } from "./operation-routes.js";
import { problemSender } from "./problems.js";
import type { HttpOptions } from "./settings.js";
import { mountSignIn } from "./sign-in.js";

/**
 * The HTTP surface: every operation of the contract over `callText`, sign-in, health, the reference, the console's
 * files and MCP, behind guards that stand before every route, known or not. It opens no port (`listen` does) and
 * keeps nothing but the limits' counts. Closing it lets running calls finish and answers new ones with 503.
 */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { config, log } = options;
  const sendProblem = problemSender(config, log);
  const admission = new Admission(config);
  const door = doorkeeper(options, admission);
  const app = fastify({
    logger: false,
    bodyLimit: config.bodyLimitBytes,
    routerOptions: { maxParamLength: 1000 },
    genReqId: requestIds(),
    requestTimeout: 30_000,
    http: { headersTimeout: 10_000 },
    return503OnClosing: false,
    // Operations check their input and write their answers themselves; the framework's compilers take 35 ms to load.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    forceCloseConnections: "idle",
    clientErrorHandler: connectionFault,
    // A path that can't be decoded has no route and passes no hook; it meets the same door.
    frameworkErrors: (error, request, reply) => {
      try {
        door.enter(request, reply as FastifyReply);
        sendProblem(reply as FastifyReply, error);
      } catch (thrown) {
        sendProblem(reply as FastifyReply, thrown);
      }
    },
  });
  app.decorateRequest("credential", undefined);
  app.decorateRequest("visitor", undefined);
  // Bodies stay bytes here: who reads them knows what they have to be. Only now is it known whether a chunked one
  // without a type, which the guards let through, is really there.
  app.removeAllContentTypeParsers();
  // The framework remembers the parser of a type that has a name here; `*` it looks up each time.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, (request, body, done) => {
    const untyped = body.length > 0 && request.headers["content-type"] === undefined;
    done(untyped ? unsupportedMediaType(undefined) : null, body);
  });
  app.addHook("preClose", async () => door.close());
  app.addHook("onRequest", (request, reply, done) => {
    try {
      door.enter(request, reply);
      done();
    } catch (thrown) {
      done(thrown as Error);
    }
  });
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, error));
  app.setNotFoundHandler((request, reply) => sendProblem(reply, noRoute(request)));
  mountHealth(app, options, sendProblem);
  mountSignIn(app, options.signIn, admission, sendProblem);
  mountDocs(app);
  mountConsole(app, options.consoleDir);
  const seam = { callText: options.callText, admission, sendProblem, bodyLimitBytes: config.bodyLimitBytes, log };
  mountOperations(app, seam);
  if (options.mcp) mountMcp(app, options.mcp, seam);
  return app;
}

/** The one place every request passes first: base headers, guards, then key and limits unless the route is open. */
function doorkeeper({ config }: HttpOptions, admission: Admission) {
  const guards = createGuards(config);
  let closing = false;
  return {
    enter(request: FastifyRequest, reply: FastifyReply): void {
      reply.headers(BASE_HEADERS).header("x-request-id", request.id);
      if (closing) throw new DibsError("store_unavailable", "The server is stopping. Try again in a moment.", {});
      for (const guard of guards) guard(request.raw);
      const { config: route } = request.routeOptions;
      if (route?.open === true) return;
      request.credential = credentialOf(request.raw);
      if (request.credential === undefined) throw noKey();
      request.visitor = admission.enter(request.credential, request.socket, route?.counts ?? "call");
    },
    close(): void {
      closing = true;
    },
  };
}

function noKey(): DibsError {
  return new DibsError(
    "unauthorized",
    "There is no key on this call. Send one as `Authorization: Bearer KEY` or `X-Agent-Key: KEY`, never in the URL; an admin makes keys with `dibs agent add NAME`. The reference is at /docs.",
    {},
  );
}

function noRoute(request: FastifyRequest): DibsError {
  const path = request.url.split("?", 1)[0] as string;
  return new DibsError(
    "not_found",
    `There is no ${request.method} ${path.slice(0, 200)}. See /docs for what there is.`,
    {},
  );
}

function noSchemas(): never {
  throw new Error("A route has a JSON Schema; here operations bring their own.");
}

function requestIds(): () => string {
  const run = randomBytes(6).toString("hex");
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count.toString(36)}`;
  };
}
