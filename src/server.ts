import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type Config, version } from "./config.js";
import { isDibsError } from "./contract/errors.js";
import { type OpenStore, open } from "./index.js";

export { type Config, readConfig } from "./config.js";

const CONSOLE_DIR = fileURLToPath(new URL("../console/dist", import.meta.url));

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
  const log = pino({ level: config.logLevel, base: undefined }, pino.destination({ fd: 2, sync: true }));
  const opening = open({
    store: config.store,
    thread: true,
    onFault: (operation, cause) => log.error({ operation, cause }, "a call failed for no reason of its caller's"),
    onForwardJump: (jumpMs) =>
      log.warn({ jumpMs }, "the wall clock jumped forward; leases were judged by the new time"),
  });
  // Loaded while the store's threads start on the other core: after a crash, agents wait for this.
  const surface = import("./http/app.js");
  const store = await opening;
  try {
    const { createHttp } = await surface;
    const admin = await store.ensureAdmin(config.adminKey);
    const adminKeyFile = admin.key === undefined ? undefined : keepAdminKey(config.adminKeyFile, admin.key);
    const mcp = once(async () => {
      const { createMcpHttp } = await import("./mcp/http.js");
      const onFault = (fault: unknown) => log.error({ err: fault }, "an MCP call failed");
      return createMcpHttp({ call: store.call, version: version(), onFault });
    });
    const http = createHttp({
      callText: store.callText,
      signIn: { redeem: (code) => store.redeemSignInCode(code), drop: (token) => store.dropSignIn(token) },
      isReady: () => store.ping(),
      config,
      mcp: async (request, credential) => (await mcp())(request, credential),
      consoleDir: CONSOLE_DIR,
      log,
    });
    await http.listen({ host: config.host, port: config.port });
    // Only now: its library takes a tenth of a second to load, which no other call should wait for.
    void mcp();
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
    await closeQuietly(store);
    throw fault;
  }
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

async function closeQuietly(store: OpenStore): Promise<void> {
  try {
    await store.close();
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
