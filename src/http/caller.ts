import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DibsError, invalidInput, isDibsError } from "../contract/errors.js";
import type { Caller } from "../contract/operation.js";
import type { Admission, Visitor } from "./admission.js";
import { disconnectSignal } from "./disconnect.js";
import type { Credential } from "./settings.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a key. Everything else, unknown routes included, needs one. */
    open?: boolean;
    /** Which limit counts its calls: that of heartbeats, or, where only the body tells, the handler's choice. */
    counts?: "call" | "heartbeat" | "by body";
  }
  interface FastifyRequest {
    /** Set by the doorkeeper on every request that isn't open. */
    credential: Credential | undefined;
    visitor: Visitor | undefined;
  }
}

/** Reads the caller from the head: who, in which session, with which conditions. Throws `invalid_input`. */
export function callerOf(request: FastifyRequest, reply: FastifyReply, writes: boolean): Caller {
  return new RequestCaller(request, reply.raw, writes);
}

class RequestCaller implements Caller {
  readonly identity: Credential;
  readonly sessionId: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly ifVersion: number | undefined;
  readonly #response: ServerResponse;
  #signal: AbortSignal | undefined;

  constructor(request: FastifyRequest, response: ServerResponse, writes: boolean) {
    const { headers } = request.raw;
    this.identity = admitted(request);
    this.sessionId = text(headers["x-dibs-session"]);
    this.idempotencyKey = writes ? idempotencyKey(headers["idempotency-key"]) : undefined;
    this.ifVersion = headers["if-match"] === undefined ? undefined : version(headers["if-match"]);
    this.#response = response;
  }

  /** Made when the engine first asks: it costs as much as the rest, and most calls are over before anybody leaves. */
  get signal(): AbortSignal {
    this.#signal ??= disconnectSignal(this.#response);
    return this.#signal;
  }
}

/** Notes what the engine thought of the request's credential, as its refusal shows; for the limits to know. */
export function noteRefusal(admission: Admission, request: FastifyRequest, thrown: unknown): void {
  if (request.visitor !== undefined && isDibsError(thrown, "unauthorized")) {
    admission.rejected(request.visitor, request.socket);
  }
}

function admitted(request: FastifyRequest): Credential {
  // Unreachable while the doorkeeper stands before every route; if it ever didn't, nothing gets further than here.
  if (request.credential === undefined) throw new DibsError("unauthorized", "There is no key on this call.", {});
  return request.credential;
}

function text(header: string | string[] | undefined): string | undefined {
  return header === undefined || header === "" ? undefined : String(header);
}

function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = String(header);
  if (key.length >= 1 && key.length <= 255) return key;
  throw invalidInput("Idempotency-Key", "must have 1..255 characters");
}

function version(header: string): number | undefined {
  const found = header.trim();
  if (found === "*") return undefined;
  const number = Number(/^"(\d{1,15})"$/.exec(found)?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) throw invalidInput("If-Match", 'must be the version in quotes, as "5"');
  return number;
}
