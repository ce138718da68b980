import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Call, Caller } from "../contract/operation.js";
import { BridgeSeat } from "./bridge-seat.js";
import { Care } from "./care.js";
import { createMcpServer } from "./server.js";

/** Under a third of the shortest silence after which a session opened without a length ends. */
const SIGN_OF_LIFE_MS = 240_000;
const PARENT_CHECK_MS = 1000;
/** Ending the session must not keep the process longer than this. */
const LEAVE_MAX_MS = 2000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface McpStdioOptions {
  readonly call: Call;
  readonly identity: Caller["identity"];
  /** The session to work in; without it the bridge opens one of its own at first need and ends it at the end. */
  readonly sessionId?: string;
  /** The program's version, as clients show it. */
  readonly version?: string;
  /** Told of faults that are no refusals; nothing of them reaches the client. Must not write to stdout. */
  readonly onFault?: (fault: unknown) => void;
}

/**
 * Serves MCP on this process's stdin and stdout, in both generations of the protocol, and resolves when its agent is
 * gone: stdin ended, a signal came, or the parent process died without either. Then waiting calls are aborted and the
 * bridge's own session is ended, within 2 s. Never rejects.
 */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  const { call, identity, sessionId, onFault } = options;
  const seat = new BridgeSeat(call, identity, sessionId);
  const desk = { call, care: new Care(call), onFault };
  const transport = new ClosingTransport();
  const server = serveStdio(() => createMcpServer(desk, seat, options.version ?? "0"), {
    transport,
    onerror: (error) => onFault?.(error),
  });
  const life = setInterval(() => void seat.stayAlive(), SIGN_OF_LIFE_MS);
  await agentGone(transport);
  clearInterval(life);
  await server.close().catch((error) => onFault?.(error));
  await within(LEAVE_MAX_MS, seat.leave());
}

/** Resolves at the first sign that nobody is there any more. */
function agentGone(transport: ClosingTransport): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const gone = () => {
      clearInterval(watch);
      for (const signal of SIGNALS) process.off(signal, gone);
      resolve();
    };
    // An agent that was killed may leave its pipe open in another child: then only its absence tells.
    const watch = setInterval(() => {
      if (process.ppid !== parent || !isRunning(parent)) gone();
    }, PARENT_CHECK_MS);
    for (const signal of SIGNALS) process.on(signal, gone);
    void transport.closed.then(gone);
  });
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Tells when it has closed, for whatever reason: stdin ended, stdout broke, a message was too large. */
class ClosingTransport extends StdioServerTransport {
  #tell: () => void = () => {};
  readonly closed = new Promise<void>((resolve) => {
    this.#tell = resolve;
  });

  override async close(): Promise<void> {
    await super.close();
    this.#tell();
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, though we may not signal it.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
