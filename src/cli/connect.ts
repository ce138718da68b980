import { Dibs } from "../client/dibs.js";
import { httpCall } from "../client/http-call.js";
import { type Config, storeOptions } from "../config.js";
import { DibsError } from "../contract/errors.js";
import type { Call, Caller } from "../contract/operation.js";
import { ProjectHere } from "./git/project-here.js";

/** A way to ask Dibs: a server, or the store itself; what is made by it is made in the project of the repository around. */
export interface Connection {
  readonly call: Call;
  readonly identity: Caller["identity"];
  readonly dibs: Dibs;
  readonly project: ProjectHere;
  close(): Promise<void>;
}

/**
 * With DIBS_URL the server there, as the agent of DIBS_KEY; else the store itself, as DIBS_AGENT (R45).
 * `lasting`: for a command that goes on while others write, so that a busy file doesn't stop it.
 */
export async function connect(config: Config, { lasting = false } = {}): Promise<Connection> {
  if (config.url !== undefined) return overHttp(config, config.url, lasting);
  const { open } = await import("../index.js");
  const store = await open({ ...storeOptions(config), thread: lasting });
  const identity = { kind: "file", agent: config.agent } as const;
  return placed(new ProjectHere(store.call, identity, config.project), identity, () => store.close());
}

function overHttp({ key, project }: Config, url: string, lasting: boolean): Connection {
  if (key === undefined) {
    const text = "DIBS_URL names a server, but DIBS_KEY has no key for it; an admin makes one: dibs agent add NAME.";
    throw new DibsError("unauthorized", text, {});
  }
  // A person waits for a short command; a worker rather waits for its server.
  const call = httpCall({ url, key, retry: lasting ? {} : { attempts: 5 } });
  const identity = { kind: "key", key } as const;
  return placed(new ProjectHere(call, identity, project), identity, async () => undefined);
}

function placed(project: ProjectHere, identity: Caller["identity"], close: Connection["close"]): Connection {
  return { call: project.call, identity, dibs: Dibs.over(project.call, identity), project, close };
}
