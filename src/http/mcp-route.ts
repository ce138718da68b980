import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { operations } from "../contract/operations.js";
import type { Visitor } from "./admission.js";
import { callerOf, noteRefusal } from "./caller.js";
import { disconnectSignal } from "./disconnect.js";
import { timeText } from "./headers.js";
import { checkShape } from "./json-body.js";
import type { CallSeam } from "./operation-routes.js";
import type { Credential, McpSeam } from "./settings.js";

/**
 * `/mcp` for the handler of that room: the same guards, key and limits as everywhere, heartbeats counted apart (R49).
 * The key is tried here, with a read, because a tool list would otherwise be shown to anybody with any key. GET and
 * DELETE reach the handler too; a stateless one refuses them in the words its clients expect.
 */
export function mountMcp(app: FastifyInstance, mcp: McpSeam, seam: CallSeam): void {
  const run = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      const message = parsed(request.body as Buffer | undefined);
      seam.admission.count(request.visitor as Visitor, (await mcp.isHeartbeat(message)) ? "heartbeat" : "call");
      const caller = callerOf(request, reply, false);
      await seam.callText(operations.get_me, {}, caller);
      seam.admission.accepted(request.visitor as Visitor);
      checkShape(message);
      await sendResponse(reply, await mcp.answer(webRequest(request, reply), request.credential as Credential));
    } catch (thrown) {
      noteRefusal(seam.admission, request, thrown);
      seam.sendProblem(reply, thrown);
    }
  };
  app.route({
    method: ["POST", "GET", "DELETE"],
    url: "/mcp",
    exposeHeadRoute: false,
    config: { counts: "by body" },
    handler: (request, reply) => {
      void run(request, reply);
    },
  });
}

/** What isn't JSON at all is left to the handler, which knows how its protocol says so. */
function parsed(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(String(body ?? ""));
  } catch {
    return undefined;
  }
}

// The credential goes beside the request, not in it; the rest belongs to the connection, which ends here.
const KEPT_BACK = new Set([
  "authorization",
  "x-agent-key",
  "cookie",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

function webRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !KEPT_BACK.has(name)) headers.set(name, String(value));
  }
  const body = request.method === "POST" ? ((request.body as Buffer | undefined) ?? Buffer.alloc(0)) : null;
  return new Request(`http://${request.headers.host}/mcp`, {
    method: request.method,
    headers,
    body: body === null ? null : new Uint8Array(body),
    signal: disconnectSignal(reply.raw),
  });
}

async function sendResponse(reply: FastifyReply, response: Response): Promise<void> {
  response.headers.forEach((value, name) => {
    if (!name.startsWith("access-control-")) reply.header(name, value);
  });
  reply.code(response.status).header("server-now", timeText(Date.now()));
  if (response.body === null) reply.send();
  else if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    reply.send(Readable.fromWeb(response.body as ReadableStream));
  } else reply.send(Buffer.from(await response.arrayBuffer()));
}
