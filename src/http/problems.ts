import type { FastifyReply } from "fastify";
import { DibsError, invalidInput, isDibsError } from "../contract/errors.js";
import { TooMany } from "./admission.js";
import { unsupportedMediaType } from "./guards.js";
import { PROBLEM_TYPE, sendText } from "./headers.js";
import type { HttpLog, HttpSettings } from "./settings.js";

/** Turns whatever was thrown into a problem answer. */
export type SendProblem = (reply: FastifyReply, thrown: unknown) => void;

/**
 * Builds the one place where errors become answers: `application/problem+json` with the error's status, the
 * headers that belong to it, and for anything unforeseen a bare `internal` that names only the request; its cause
 * goes to the log.
 */
export function problemSender(settings: HttpSettings, log: HttpLog | undefined): SendProblem {
  return (reply, thrown) => {
    const error =
      known(thrown, reply.request.routeOptions.bodyLimit ?? settings.bodyLimitBytes) ?? internal(reply.request.id);
    const { status } = error;
    if (status >= 500 && !(reply.raw.destroyed && isAbort(thrown))) {
      const { method, routeOptions, id } = reply.request;
      const cause = isDibsError(thrown) ? (thrown.cause ?? thrown) : thrown;
      log?.error({ requestId: id, method, route: routeOptions.url, code: error.code, err: cause }, "request failed");
    }
    for (const [name, value] of Object.entries(problemHeaders(error))) reply.header(name, value);
    sendText(reply, status, PROBLEM_TYPE, JSON.stringify(error.toProblem()));
  };
}

/** Of a call that waited until its client was gone: nothing failed, and nobody reads the answer. */
function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

/** What an answer with this error says beside its body. */
function problemHeaders(error: DibsError): Record<string, string> {
  switch (error.status) {
    case 401:
      return { "www-authenticate": 'Bearer realm="dibs"' };
    case 429:
    case 503:
      return { "retry-after": String(error instanceof TooMany ? error.retryAfterSeconds : 1) };
    default:
      return {};
  }
}

function internal(requestId: string): DibsError {
  return new DibsError("internal", `The server failed at this. Its log says why, under request ${requestId}.`, {});
}

/** Our own errors as they are, the framework's as ours; undefined for what nobody foresaw. */
function known(thrown: unknown, bodyLimitBytes: number): DibsError | undefined {
  // The text of an `internal` may speak of the inside; only its request id goes out.
  if (isDibsError(thrown)) return thrown.code === "internal" ? undefined : thrown;
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return tooLarge(bodyLimitBytes);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return unsupportedMediaType(undefined);
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return invalidInput("(path)", "must be percent-encoded UTF-8 with parts of at most 1,000 characters");
  }
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return undefined;
  return invalidInput("(body)", "did not arrive whole; send it again with a right Content-Length");
}

function tooLarge(limit: number): DibsError {
  return new DibsError(
    "too_large",
    `The body has more than ${limit} bytes. Send less at once, or have the server started with a higher DIBS_BODY_LIMIT.`,
    { limit },
  );
}
