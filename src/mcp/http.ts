import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import type { Call, Caller } from "../contract/operation.js";
import { Care } from "./care.js";
import type { Seat } from "./seat.js";
import { createMcpServer } from "./server.js";

const BOTH_KINDS = "application/json, text/event-stream";
/** Whoever mounts this limits bodies; the library's own limit must not come first. */
const BODY_MAX_BYTES = 67_108_864;

export interface McpHttpOptions {
  readonly call: Call;
  /** The program's version, as clients show it. */
  readonly version?: string;
  /** Told of faults that are no refusals; nothing of them reaches the client. */
  readonly onFault?: (fault: unknown) => void;
}

/**
 * Serves MCP over HTTP at one address, in both generations of the protocol and without transport sessions: a restart
 * breaks no client, an unknown `Mcp-Session-Id` means nothing. Whoever mounts it has checked host, origin, key and
 * size, and says who calls. The work session of calls that name none is `sessionId`, else the header `X-Dibs-Session`,
 * else the key's own.
 * Methods other than POST answer 405. The response's body may be a stream; an aborted request ends its waiting calls.
 */
export function createMcpHttp(options: McpHttpOptions) {
  const desk = { call: options.call, care: new Care(options.call), onFault: options.onFault };
  const handler = createMcpHandler(
    (context) => createMcpServer(desk, seatOf(context.authInfo), options.version ?? "0"),
    {
      maxRequestBodySize: BODY_MAX_BYTES,
    },
  );
  return (request: Request, identity: Caller["identity"], sessionId?: string): Promise<Response> => {
    const named = sessionId ?? request.headers.get("x-dibs-session") ?? undefined;
    // Not the protocol's signal: that one also aborts when an exchange has ended well.
    const seat: Seat = { identity, implicit: true, gone: request.signal, session: async () => named };
    const authInfo: AuthInfo = { token: "", clientId: "", scopes: [], extra: { seat } };
    return handler.fetch(acceptingBoth(request), { authInfo });
  };
}

function seatOf(authInfo: AuthInfo | undefined): Seat {
  return authInfo?.extra?.seat as Seat;
}

/** Older clients must say that they take streams too; one that says it takes anything, or nothing at all, does. */
function acceptingBoth(request: Request): Request {
  const accept = request.headers.get("accept");
  if (accept !== null && !accept.includes("*/*")) return request;
  const headers = new Headers(request.headers);
  headers.set("accept", BOTH_KINDS);
  return new Request(request, { headers });
}
