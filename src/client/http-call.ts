import { DibsError, invalidInput, type Problem } from "../contract/errors.js";
import type { Answer, Call, Caller, Operation } from "../contract/operation.js";
import { type Clock, systemClock } from "./clock.js";
import { requestFor } from "./request.js";
import { type Again, RETRY_DEFAULT, type RetryPolicy, retryAfterMs, retrying } from "./retry.js";

export interface HttpCallOptions {
  /** The server, as `http://127.0.0.1:4747`; a path before `/v1` is kept. */
  readonly url: string;
  /** Used when the caller brings none; a browser needs none, its cookie goes along. */
  readonly key?: string | undefined;
  /** Used when the caller names none. */
  readonly session?: string | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** How long one attempt may stay without an answer, beside the time the call itself asked to wait. */
  readonly attemptTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

type Attempt = { value: Answer<unknown> } | { again: Again };

/**
 * A `Call` over HTTP. A refusal of the server is thrown as the `DibsError` it was; a server that can't be
 * reached as `store_unavailable`. Attempts that failed on the way (network, 429, 502..504) are made again: every
 * write carries an Idempotency-Key made once, so that however often it is sent it has one effect.
 */
export function httpCall(options: HttpCallOptions): Call {
  const base = baseUrl(options.url);
  const clock = options.clock ?? systemClock;
  const call = async (operation: Operation, input: unknown, caller: Caller): Promise<Answer<unknown>> => {
    const fields = (input ?? {}) as Record<string, unknown>;
    const request = requestFor(operation, fields);
    const headers = headersFor(operation, caller, options, request.body !== undefined);
    const waitMs = typeof fields.wait_seconds === "number" ? fields.wait_seconds * 1000 : 0;
    const timeoutMs = (options.attemptTimeoutMs ?? 30_000) + waitMs;
    const context = {
      policy: { ...RETRY_DEFAULT, ...options.retry },
      clock,
      random: options.random ?? Math.random,
      signal: caller.signal,
    };
    return retrying(context, async () => {
      const limit = attemptLimit(clock, timeoutMs, caller.signal);
      try {
        const init = { method: request.method, headers, body: request.body, signal: limit.signal };
        const response = await (options.fetch ?? globalThis.fetch)(base + request.path, {
          ...init,
          credentials: "same-origin",
          // A key follows no redirect.
          redirect: "manual",
        });
        return read(response, await response.text(), base);
      } catch (thrown) {
        if (thrown instanceof DibsError) throw thrown;
        if (caller.signal?.aborted) throw caller.signal.reason;
        return { again: { error: unreachable(base, thrown), retryAfterMs: 0 } };
      } finally {
        limit.end();
      }
    });
  };
  return call as Call;
}

function baseUrl(text: string): string {
  const url = new URL(text);
  // Whatever stands before the host is not for messages: it may be a password.
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function headersFor(operation: Operation, caller: Caller, options: HttpCallOptions, hasBody: boolean) {
  const key = caller.identity.kind === "key" ? caller.identity.key : options.key;
  const session = caller.sessionId ?? options.session;
  const headers: Record<string, string> = { accept: "application/json" };
  if (hasBody) headers["content-type"] = "application/json";
  if (key !== undefined) headers.authorization = `Bearer ${headerKey(key)}`;
  if (session !== undefined) headers["x-dibs-session"] = headerText("session_id", session);
  if (caller.ifVersion !== undefined) headers["if-match"] = `"${caller.ifVersion}"`;
  if (operation.effect === "write") {
    headers["idempotency-key"] = headerText("idempotency_key", caller.idempotencyKey ?? crypto.randomUUID());
  }
  return headers;
}

const HEADER_TEXT = /^[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?$/;

function headerKey(key: string): string {
  // Checked here because fetch would repeat the whole key in its own message.
  if (HEADER_TEXT.test(key)) return key;
  throw new DibsError(
    "unauthorized",
    "The key holds characters that no key has. Copy it again, without line ends.",
    {},
  );
}

function headerText(field: string, text: string): string {
  if (HEADER_TEXT.test(text)) return text;
  throw invalidInput(field, "must be visible ASCII characters");
}

/** The caller's signal and the attempt's time limit as one signal. */
function attemptLimit(clock: Clock, timeoutMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const timer = clock.setTimer(() => controller.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  return {
    signal: controller.signal,
    end: () => {
      clock.clearTimer(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
}

function read(response: Response, text: string, base: string): Attempt {
  const body = parse(text);
  if (response.ok && body !== undefined) return { value: answerOf(response, body) };
  const error = isProblem(body) ? DibsError.fromProblem(body) : notDibs(response, base);
  if (![429, 502, 503, 504].includes(response.status)) throw error;
  return { again: { error, retryAfterMs: retryAfterMs(response.headers.get("retry-after"), Date.now()) } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "code" in body;
}

function answerOf(response: Response, body: unknown): Answer<unknown> {
  const { headers } = response;
  const next = /<([^>]*)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  const cursor = next === undefined ? null : new URL(next, "http://relative.invalid").searchParams.get("cursor");
  const serverNow = Date.parse(headers.get("server-now") ?? "");
  return {
    body,
    status: response.status,
    ...(cursor === null ? {} : { nextCursor: cursor }),
    ...(headers.get("idempotency-replayed") === "true" ? { replayed: true } : {}),
    notices: Number(headers.get("dibs-notices") ?? 0),
    serverNowMs: Number.isNaN(serverNow) ? Date.now() : serverNow,
  };
}

function notDibs(response: Response, base: string): DibsError {
  const kind = response.headers.get("content-type") ?? "no content type";
  return new DibsError(
    "store_unavailable",
    `What answers at ${base} is not Dibs (status ${response.status}, ${kind}). Check the address (DIBS_URL) and any proxy before it.`,
    {},
  );
}

function unreachable(base: string, thrown: unknown): DibsError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = (cause as { code?: unknown } | undefined)?.code;
  const why = typeof code === "string" ? code : cause instanceof Error ? cause.message : String(cause);
  return new DibsError(
    "store_unavailable",
    `Can't reach Dibs at ${base} (${why}). Start it with \`dibs up\`, or correct the address (DIBS_URL).`,
    {},
    { cause: thrown },
  );
}
