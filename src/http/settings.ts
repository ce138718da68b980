import type { Caller, TextCall } from "../contract/operation.js";

/** The part of the configuration that this room needs. */
export interface HttpSettings {
  /** The address the server binds to; requests may name it as their host. */
  readonly host: string;
  /** More host names that requests may name, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Requests per second and key; heartbeats are counted apart with the same figure. */
  readonly rateLimitPerSecond: number;
  readonly rateBurst: number;
  readonly bodyLimitBytes: number;
}

/** How a request says who it is. Only the engine knows whether that is true. */
export type Credential = Extract<Caller["identity"], { kind: "key" | "cookie" }>;

export interface SignIn {
  /** Exchanges a one-time code for a console token; throws `unauthorized` for a code that is wrong, used or too old. */
  redeem(code: string): Promise<{ token: string; agentId: string; expiresAtMs: number }>;
  /** Ends the sign-in of a console token; without it a sign-out only takes the cookie away. */
  drop?(token: string): Promise<void>;
}

/** The MCP surface, which another room has. */
export interface McpSeam {
  /** Answers requests in web-standard form, for the caller whose key stood in the headers. */
  answer(request: Request, credential: Credential): Promise<Response>;
  /** Whether a message of its protocol, parsed, is a heartbeat and nothing else. */
  isHeartbeat(message: unknown): boolean | Promise<boolean>;
}

/** What this room writes to a log: server faults and slow calls, never keys, bodies or query strings. */
export interface HttpLog {
  error(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface HttpOptions {
  readonly callText: TextCall;
  readonly signIn: SignIn;
  /** Throws a `DibsError` (503) while calls would not work. */
  readonly isReady: () => void | Promise<void>;
  readonly config: HttpSettings;
  readonly mcp?: McpSeam;
  /** The built console: index.html and assets/. */
  readonly consoleDir: string;
  /** A pino logger, or anything like one; without it nothing is logged. */
  readonly log?: HttpLog;
}
