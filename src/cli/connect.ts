import { Dibs } from "../client/dibs.js";
import { httpCall } from "../client/http-call.js";
import { type Config, storeOptions } from "../config.js";
import { DibsError } from "../contract/errors.js";
import type { Call, Caller } from "../contract/operation.js";

/** A way to ask Dibs: a server, or the store itself. */
export interface Connection {
  readonly call: Call;
  readonly identity: Caller["identity"];
  readonly dibs: Dibs;
  close(): Promise<void>;
}

/**
 * With DIBS_URL the server there, as the agent of DIBS_KEY; else the store itself, as DIBS_AGENT (R45).
 * `lasting`: for a command that goes on while others write, so that a busy file doesn't stop it.
 */
export async function connect(config: Config, { lasting = false } = {}): Promise<Connection> {
  if (config.url !== undefined) return overHttp(config.url, config.key, lasting);
  const { open } = await import("../index.js");
  const store = await open({ ...storeOptions(config), thread: lasting });
  const identity = { kind: "file", agent: config.agent } as const;
  return { call: store.call, identity, dibs: Dibs.over(store.call, identity), close: () => store.close() };
}

function overHttp(url: string, key: string | undefined, lasting: boolean): Connection {
  if (key === undefined) {
    const text = "DIBS_URL names a server, but DIBS_KEY has no key for it; an admin makes one: dibs agent add NAME.";
    throw new DibsError("unauthorized", text, {});
  }
  // A person waits for a short command; a worker rather waits for its server.
  const call = httpCall({ url, key, retry: lasting ? {} : { attempts: 5 } });
  const identity = { kind: "key", key } as const;
  return { call, identity, dibs: Dibs.over(call, identity), close: async () => undefined };
}
