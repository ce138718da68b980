import { DibsError } from "../../contract/errors.js";
import type { Caller, Operation } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import type { Reply } from "../context.js";
import { serializerOf } from "./serialize.js";

/** One request on its way into a transaction; plain data, so that it can cross threads. Its input is validated. */
export interface EngineCall {
  readonly name: OperationName | "undo_grant";
  readonly input: Record<string, unknown>;
  readonly caller: Omit<Caller, "signal">;
}

export type Outcome = Success | Refusal;
export interface Success {
  readonly ok: true;
  readonly status: number;
  /** The body as JSON text. */
  readonly text: string;
  readonly nextCursor?: string;
  readonly replayed?: boolean;
  readonly notices: number;
  readonly nowMs: number;
  /** No task now: ms until the clock alone may change that, null when it can't. */
  readonly emptyForMs?: number | null;
  readonly granted?: readonly { taskId: string; leaseId: string }[];
}
export interface Refusal {
  readonly ok: false;
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
  readonly notices: number;
  readonly nowMs: number;
  /** The fault behind `internal`, for the log alone. */
  readonly cause?: string;
}

export interface BatchResult {
  /** In the order of the calls. */
  readonly outcomes: readonly Outcome[];
  /** Something became claimable: waiting calls should look again. */
  readonly woke: boolean;
}

const serializers = new Map<string, (body: unknown) => string>();

/** Answers are checked before they leave, which also strips what nobody promised. */
export function checked(operation: Operation, body: unknown): string {
  let write = serializers.get(operation.name);
  if (!write) {
    write = serializerOf(operation.output);
    serializers.set(operation.name, write);
  }
  return write(body);
}

/** What a surface needs beside the body. */
export function extras(reply: Reply, nowMs: number): Partial<Success> {
  return {
    ...(reply.nextCursor === undefined ? {} : { nextCursor: reply.nextCursor }),
    ...(reply.emptyUntilMs === undefined
      ? {}
      : { emptyForMs: reply.emptyUntilMs === null ? null : Math.max(0, reply.emptyUntilMs - nowMs) }),
    ...(reply.granted?.length
      ? { granted: reply.granted.map((row) => ({ taskId: row.id, leaseId: row.lease_id ?? "" })) }
      : {}),
  };
}

export function refusal(error: DibsError, nowMs: number, notices: number): Refusal {
  const { code, message, details } = error;
  return { ok: false, error: { code, message, details }, notices, nowMs };
}

/** A fault that is nobody's refusal: the caller learns that there was one, the log learns which. */
export function internalFault(fault: unknown): Refusal {
  const error = new DibsError("internal", "A fault of Dibs; its log has more.", {});
  return { ...refusal(error, 0, 0), cause: causeOf(fault) };
}

/** A fault as the log has it. */
export function causeOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
