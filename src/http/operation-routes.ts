import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation, TextAnswer, TextCall } from "../contract/operation.js";
import { operationList } from "../contract/operations.js";
import { task } from "../contract/task.js";
import { contextRecord } from "../contract/task-context.js";
import type { Admission, Visitor } from "./admission.js";
import { callerOf, noteRefusal } from "./caller.js";
import { JSON_TYPE, sendText } from "./headers.js";
import { inputReader } from "./operation-input.js";
import type { SendProblem } from "./problems.js";
import type { HttpLog } from "./settings.js";

/** The bases every route of the interface has: its own, and that of older task services. */
export const BASES = ["/v1", "/api"] as const;

/** A plan of as many steps as there may be. */
const LARGE_BYTES = 64 * 1024 * 1024;
/** A call that took longer, waiting not counted, is worth a line in the log. */
const SLOW_MS = 1000;

export interface CallSeam {
  readonly callText: TextCall;
  readonly admission: Admission;
  readonly sendProblem: SendProblem;
  /** Of an ordinary call. */
  readonly bodyLimitBytes: number;
  readonly log: HttpLog | undefined;
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => void;

/** Mounts every operation of the contract at its paths and aliases, under every base. */
export function mountOperations(app: FastifyInstance, seam: CallSeam): void {
  for (const operation of operationList) {
    const limits = operation.large ? { bodyLimit: Math.max(LARGE_BYTES, seam.bodyLimitBytes) } : {};
    const config = { counts: operation.heartbeat ? ("heartbeat" as const) : ("call" as const) };
    for (const { method, path } of [operation, ...(operation.aliases ?? [])]) {
      const handler = operationHandler(operation, { method, path }, seam);
      for (const base of BASES) app.route({ method, url: underBase(path, base), config, ...limits, handler });
    }
  }
}

/** The path of the contract (`/v1/…`) under one of the bases. */
export function underBase(path: string, base: string): string {
  return path.replace(/^\/v1(?=\/)/, base);
}

function operationHandler(operation: Operation, route: { method: string; path: string }, seam: CallSeam): Handler {
  const { callText, admission, sendProblem, log } = seam;
  const read = inputReader(operation, route.method, route.path);
  const writes = operation.effect === "write";
  const run = async (request: FastifyRequest, reply: FastifyReply) => {
    const startedMs = performance.now();
    try {
      const input = read(request);
      const answer = await callText(operation, input, callerOf(request, reply, writes));
      admission.accepted(request.visitor as Visitor);
      sendAnswer(request, reply, answer, operation.output === task || operation.output === contextRecord);
      const waitedMs = typeof input.wait_seconds === "number" ? input.wait_seconds * 1000 : 0;
      const tookMs = Math.round(performance.now() - startedMs - waitedMs);
      if (tookMs > SLOW_MS) log?.warn({ requestId: request.id, operation: operation.name, tookMs }, "slow call");
    } catch (thrown) {
      noteRefusal(admission, request, thrown);
      sendProblem(reply, thrown);
    }
  };
  // The answer is sent from inside; to return nothing spares the framework a second promise.
  return (request, reply) => {
    void run(request, reply);
  };
}

/** Sends the engine's text as it is, and beside it in headers what is not part of the record. */
function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: TextAnswer, versioned: boolean): void {
  if (answer.nextCursor !== undefined) reply.header("link", nextPage(request.url, answer.nextCursor));
  if (answer.replayed) reply.header("idempotency-replayed", "true");
  if (answer.notices > 0) reply.header("dibs-notices", String(answer.notices));
  if (versioned) {
    // The version is the record's last field, so it stands at the very end and is no field of something inside.
    const version = /"version":(\d+)\}$/.exec(answer.text.slice(-32));
    if (version !== null) reply.header("etag", `"${version[1]}"`);
  }
  sendText(reply, answer.status, JSON_TYPE, answer.text, answer.serverNowMs || Date.now());
}

/** The link to the next page: the same address with the cursor in place of the last one. */
function nextPage(url: string, cursor: string): string {
  const { pathname, searchParams } = new URL(url, "http://server");
  searchParams.set("cursor", cursor);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
