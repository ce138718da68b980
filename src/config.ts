import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { AGENT_NAME, AGENT_NAME_RULE, nearestAgentName } from "./contract/agent-name.js";

const port = z.coerce.number().int().min(0).max(65535);
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);

const isPostgres = (store: string) => /^postgres(ql)?:\/\//.test(store);

/** A store Dibs can open. What is wrong is said without the value, which may have a password in it. */
const store = z
  .string()
  .min(1)
  .refine(
    isStore,
    "must be sqlite:PATH or postgres://USER@HOST:PORT/DATABASE, a password in it with %XX for what a URL can't hold",
  );

/** Every environment variable Dibs reads, with bounds; the flags of `dibs up` go through the same schema. */
const environment = z.object({
  DIBS_STORE: store.optional(),
  DIBS_STORE_CONNECTIONS: z.coerce.number().int().min(1).max(100).default(4),
  DIBS_MIGRATE: z.enum(["auto", "manual"]).default("auto"),
  DIBS_HOST: z.string().min(1).default("127.0.0.1"),
  DIBS_PORT: port.default(4747),
  DIBS_ADMIN_KEY: z.string().min(24, "must have 24 characters or more").max(500).optional(),
  DIBS_ALLOWED_HOSTS: list.default([]),
  DIBS_RATE_LIMIT: z.coerce.number().int().min(1).max(1_000_000).default(2000),
  DIBS_RATE_BURST: z.coerce.number().int().min(1).max(1_000_000).default(4000),
  DIBS_BODY_LIMIT: z.coerce.number().int().min(1024).max(67_108_864).default(1_048_576),
  DIBS_LOG: z.enum(["fatal", "error", "warn", "info", "debug", "silent"]).default("info"),
  DIBS_URL: z.url({ protocol: /^https?$/ }).optional(),
  DIBS_KEY: z.string().min(1).optional(),
  DIBS_AGENT: z.string().regex(AGENT_NAME, AGENT_NAME_RULE).optional(),
  DIBS_SESSION: z.string().min(1).optional(),
  DIBS_PROJECT: z.string().min(1).max(100).optional(),
  XDG_DATA_HOME: z.string().optional(),
  DIBS_COMMAND: z.string().default("dibs"),
  NO_COLOR: z.string().optional(),
  FORCE_COLOR: z.string().optional(),
});

export interface Config {
  /** `sqlite:PATH` or `postgres://…`; shown only through `shownStore`. */
  readonly store: string;
  /** Connections of one engine to a Postgres store, at most; a server has two engines, one writes, one reads. */
  readonly storeConnectionsMax: number;
  /** Whether a schema that is too old is brought up to date on opening, or refused. */
  readonly migrate: boolean;
  /** Where a new admin key is written: beside the store's file; on PostgreSQL in the user's own data folder. */
  readonly adminKeyFile: string;
  readonly host: string;
  readonly port: number;
  readonly adminKey: string | undefined;
  /** Host names beyond loopback that the server answers to. */
  readonly allowedHosts: readonly string[];
  /** Requests per second and key; heartbeats are counted apart with the same figure. */
  readonly rateLimitPerSecond: number;
  readonly rateBurst: number;
  readonly bodyLimitBytes: number;
  readonly logLevel: string;
  /** The server the commands talk to; without it they open `store`. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly agent: string;
  readonly session: string | undefined;
  /** The project that commands mean, by id or key; without it the one of the repository around. */
  readonly project: string | undefined;
  readonly color: boolean | undefined;
  /** How this program is called where it was started: `dibs`, or `npx dibs` in a clone. */
  readonly command: string;
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads and checks the environment once; `overrides` are flags, by the variable they stand for. */
export function readConfig(overrides: Partial<Record<keyof z.input<typeof environment>, unknown>> = {}): Config {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  // A variable set to nothing means "not set", as shells do.
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse({ ...env, ...given });
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new ConfigError(`The configuration is wrong. ${problems.join("; ")}`);
  }
  const value = parsed.data;
  const dataDir = join(value.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "dibs");
  const store = value.DIBS_STORE ?? `sqlite:${join(dataDir, "dibs.db")}`;
  return Object.freeze({
    store,
    storeConnectionsMax: value.DIBS_STORE_CONNECTIONS,
    migrate: value.DIBS_MIGRATE === "auto",
    adminKeyFile: adminKeyFileOf(store, dataDir),
    host: value.DIBS_HOST,
    port: value.DIBS_PORT,
    adminKey: value.DIBS_ADMIN_KEY,
    allowedHosts: value.DIBS_ALLOWED_HOSTS,
    rateLimitPerSecond: value.DIBS_RATE_LIMIT,
    rateBurst: value.DIBS_RATE_BURST,
    bodyLimitBytes: value.DIBS_BODY_LIMIT,
    logLevel: value.DIBS_LOG,
    url: value.DIBS_URL,
    key: value.DIBS_KEY,
    agent: value.DIBS_AGENT ?? (nearestAgentName(userInfo().username) || "user"),
    session: value.DIBS_SESSION,
    project: value.DIBS_PROJECT,
    command: value.DIBS_COMMAND,
    color: value.NO_COLOR !== undefined ? false : value.FORCE_COLOR !== undefined ? true : undefined,
  });
}

/** How the commands and the server open the store. */
export function storeOptions({ store, storeConnectionsMax, migrate }: Config) {
  return { store, connectionsMax: storeConnectionsMax, migrate };
}

/** A text that may name a Postgres store, as people and logs may see it: without passwords. */
export function shownStore(text: string): string {
  return text
    .replace(/(\bpostgres(?:ql)?:\/\/[^\s:@/?#]*):[^\s/]*@/gi, "$1@")
    .replace(/([?&](?:ssl)?password=)[^&\s]*/gi, "$1…");
}

/** Each store has its own, so that no server's key is another's. */
function adminKeyFileOf(store: string, dataDir: string): string {
  if (!isPostgres(store)) return `${resolve(store.replace(/^sqlite:/, ""))}.admin-key`;
  const { host, pathname } = new URL(store);
  return join(dataDir, `${`${host}${pathname}`.replace(/[^\w.-]+/g, "_")}.admin-key`);
}

function isStore(text: string): boolean {
  if (text.startsWith("sqlite:")) return true;
  if (!isPostgres(text)) return false;
  try {
    const { username, password, pathname } = new URL(text);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The environment for a program that Dibs starts: this process's, with some variables added. */
export function childEnvironment(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}
