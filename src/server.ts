import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import type { Logger } from "pino";
import { type Config, storeOptions } from "./config.js";
import { isDibsError } from "./contract/errors.js";
import { type OpenStore, open } from "./index.js";
import { packageFile, version } from "./package.js";

export { type Config, readConfig } from "./config.js";

export interface Served {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** The page's address with a one-time code, good for 10 minutes. */
  readonly signInLink: string;
  /** Where a new admin key was written, readable by its owner only; absent when there was one already. */
  readonly adminKeyFile?: string;
  /** Another link, for when the first is used or old. */
  newSignInLink(): Promise<string>;
  /** Stops taking calls, ends waits, lets running calls finish, closes the store. Leases stay as they are (R8). */
  stop(): Promise<void>;
}

/** Opens the store and serves HTTP, MCP and the page. Rejects with a DibsError or the listener's error when it can't. */
export async function serve(config: Config): Promise<Served> {
  const logging = startLog(config.logLevel);
  const opening = open({
    ...storeOptions(config),
    thread: true,
    tends: true,
    onFault: async (operation, cause) => (await logging).error({ operation, cause }, "a fault of Dibs"),
    onForwardJump: async (jumpMs) =>
      (await logging).warn({ jumpMs }, "the wall clock jumped forward; leases were judged by the new time"),
  });
  try {
    const [store, { http, loadMcp }] = await Promise.all([opening, makeHttp(config, opening, logging)]);
    const admin = await store.ensureAdmin(config.adminKey);
    const adminKeyFile = admin.key === undefined ? undefined : keepAdminKey(config.adminKeyFile, admin.key);
    await http.listen({ host: config.host, port: config.port });
    // Only now: its library takes a tenth of a second to load, which no other call should wait for.
    void loadMcp();
    const url = urlOf(config.host, (http.server.address() as AddressInfo).port);
    const newSignInLink = async () => `${url}/#code=${(await store.issueSignInCode()).code}`;
    const signInLink = await newSignInLink();
    const stop = once(async () => {
      store.drain();
      await http.close();
      await store.close();
    });
    return { url, signInLink, newSignInLink, stop, ...(adminKeyFile === undefined ? {} : { adminKeyFile }) };
  } catch (fault) {
    await closeQuietly(opening);
    throw fault;
  }
}

async function startLog(level: string): Promise<Logger> {
  const { pino } = await import("pino");
  return pino({ level, base: undefined }, pino.destination({ fd: 2, sync: true }));
}

/** Made while the store's thread starts on the other core: after a crash, agents wait for this. */
async function makeHttp(config: Config, opening: Promise<OpenStore>, logging: Promise<Logger>) {
  const log = await logging;
  const { createHttp } = await import("./http/app.js");
  const loadMcp = once(async () => {
    const [{ createMcpHttp }, { isHeartbeatCall: isHeartbeat }] = await Promise.all([
      import("./mcp/http.js"),
      import("./mcp/heartbeats.js"),
    ]);
    const onFault = (fault: unknown) => log.error({ err: fault }, "an MCP call failed");
    return { answer: createMcpHttp({ call: (await opening).call, version: version(), onFault }), isHeartbeat };
  });
  const http = createHttp({
    callText: async (...call) => (await opening).callText(...call),
    signIn: {
      redeem: async (code) => (await opening).redeemSignInCode(code),
      drop: async (token) => (await opening).dropSignIn(token),
    },
    isReady: async () => (await opening).ping(),
    config,
    mcp: {
      answer: async (request, credential) => (await loadMcp()).answer(request, credential),
      isHeartbeat: async (message) => (await loadMcp()).isHeartbeat(message),
    },
    consoleDir: packageFile("console/dist"),
    log,
  });
  return { http, loadMcp };
}

function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" || host === "127.0.0.1" ? "localhost" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** The key is nowhere else, the store keeps only its hash. */
function keepAdminKey(file: string, key: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return file;
}

async function closeQuietly(opening: Promise<OpenStore>): Promise<void> {
  try {
    await (await opening).close();
  } catch (fault) {
    // The fault that made us close is the one to tell; a refusal here adds nothing to it.
    if (!isDibsError(fault)) throw fault;
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
