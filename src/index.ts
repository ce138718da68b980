import type { Call, TextCall } from "./contract/operation.js";
import type { AdminResult } from "./core/engine/admin.js";
import { App } from "./core/engine/app.js";
import { type EngineHost, type EngineOptions, threadedEngine } from "./engine-host.js";

export { DibsError, isDibsError } from "./contract/errors.js";
export { operations } from "./contract/operations.js";
export { exportStore, importStore } from "./store/moving.js";
export { migrateStore, schemaOf } from "./store/open.js";

export interface OpenOptions extends EngineOptions {
  /** `sqlite:PATH`, whose file is made where it is missing, or `postgres://…`. */
  readonly store: string;
  /** Runs the engine in threads of its own (writes in one, reads in another), as a server must. Default: this thread. */
  readonly thread?: boolean;
  /**
   * Does what is due also when nobody calls, as servers do; only with `thread`. No answer depends on it, but those who
   * watch see a lapsed lease within a second.
   */
  readonly tends?: boolean;
  /** Told the cause of every `internal` answer, and of faults in what nobody asked for (`housekeeping`). */
  readonly onFault?: (operation: string, cause: string) => void;
}

/** An open store with everything that may be asked of it. */
export interface OpenStore {
  readonly call: Call;
  readonly callText: TextCall;
  /** A one-time code for the page's sign-in link, good for 10 minutes. */
  issueSignInCode(): Promise<AdminResult<"issue_sign_in_code">>;
  /** Exchanges the code, once; throws `unauthorized` for a used or old one. */
  redeemSignInCode(code: string): Promise<AdminResult<"redeem_sign_in_code">>;
  /** Ends the sign-in of a cookie. */
  dropSignIn(token: string): Promise<void>;
  /** Makes `key` an admin's key, or a new key where the first admin has none; a made key is returned this once. */
  ensureAdmin(key?: string): Promise<AdminResult<"ensure_admin">>;
  /** Makes a workspace and its admin, whose key is returned this once. */
  createWorkspace(name: string): Promise<AdminResult<"create_workspace">>;
  /** After the store was restored from a backup: ends all leases, lifts all fences; before others use it. */
  restored(): Promise<AdminResult<"restored">>;
  /** Resolves when the store takes writes; throws `store_unavailable` or `storage_full` else. */
  ping(): Promise<void>;
  /** Ends waiting calls with what they have. */
  drain(): void;
  close(): Promise<void>;
}

/** Opens a store for embedding: the same rules and the same file as the server's, no server needed. */
export async function open(options: OpenOptions): Promise<OpenStore> {
  const { store: url, thread = false, tends = false, onFault, ...engineOptions } = options;
  let app: App | undefined;
  const onChanged = () => app?.hint();
  const start = async (writes: boolean): Promise<EngineHost> => {
    if (thread) return threadedEngine(url, { ...engineOptions, tends: tends && writes }, onChanged, onFault);
    // A server's own thread never needs the core and the store.
    const { inlineEngine } = await import("./engine-inline.js");
    return inlineEngine(url, engineOptions, onChanged);
  };
  const writer = await startWriter(() => start(true));
  const reader = thread ? new LateReader(() => start(false), writer, onFault) : undefined;
  app = new App({
    write: writer.run,
    ...(reader ? { read: (calls) => reader.run(calls) } : {}),
    onWatch: (on) => writer.watch(on),
    ...(onFault ? { onFault } : {}),
  });
  const { call, callText } = app;
  return {
    call,
    callText,
    issueSignInCode: () => writer.admin("issue_sign_in_code", {}),
    redeemSignInCode: (code) => writer.admin("redeem_sign_in_code", { code }),
    dropSignIn: async (token) => void (await writer.admin("drop_sign_in", { token })),
    ensureAdmin: (key) => writer.admin("ensure_admin", key === undefined ? {} : { key }),
    createWorkspace: (name) => writer.admin("create_workspace", { name }),
    restored: () => writer.admin("restored", {}),
    ping: async () => void (await writer.admin("ping", {})),
    drain: () => app.drain(),
    async close() {
      await app.finish();
      await Promise.all([writer.close(), reader?.close()]);
    },
  };
}

/** Starts the engine that writes, and makes what every store has. When that can't be, it doesn't stay behind. */
async function startWriter(start: () => Promise<EngineHost>): Promise<EngineHost> {
  const writer = await start();
  try {
    await writer.admin("ensure_defaults", {});
    return writer;
  } catch (fault) {
    await writer.close();
    throw fault;
  }
}

/** By then a server answers: until the first answer, both cores are busy with what it takes. */
const READER_STARTS_AFTER_MS = 400;

/**
 * The engine that reads, in a thread of its own. It starts a moment after the store is open: after a crash agents wait
 * for the first answer, which the writing engine can give as well. Until the reader is there, and should it never come,
 * reads go with the writes; one that waits there, behind a file that another process has locked, goes to the reader as
 * soon as it has started (R56).
 */
class LateReader {
  readonly #timer: NodeJS.Timeout;
  readonly #started: Promise<void>;
  #starting: Promise<void> | undefined;
  #host: EngineHost | undefined;

  constructor(
    start: () => Promise<EngineHost>,
    private readonly writer: EngineHost,
    onFault: OpenOptions["onFault"],
  ) {
    let started = () => {};
    this.#started = new Promise((resolve) => {
      started = resolve;
    });
    this.#timer = setTimeout(() => {
      this.#starting = start().then(
        (host) => {
          this.#host = host;
          started();
        },
        (fault) => onFault?.("open", `The reading engine could not start, reads go with the writes: ${fault}`),
      );
    }, READER_STARTS_AFTER_MS);
  }

  run(calls: Parameters<EngineHost["run"]>[0]): ReturnType<EngineHost["run"]> {
    if (this.#host) return this.#host.run(calls);
    const late = this.#started.then(() => (this.#host ?? this.writer).run(calls));
    // Reads may be made twice: whichever engine answers first has answered.
    return Promise.race([this.writer.run(calls), late]);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#starting;
    await this.#host?.close();
  }
}
