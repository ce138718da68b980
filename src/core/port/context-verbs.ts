import type { Awaitable, Page } from "./verbs.js";

/** A context as it was from then on. */
export interface ContextVersion {
  readonly version: number;
  /** JSON; null where it was cleared. */
  readonly context: string | null;
  /** JSON: the outermost keys that differ from the version before. */
  readonly changed: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly created_at: number;
}
export type NamedVersion = ContextVersion & { readonly agent_name: string };

export interface ContextVerbs {
  /** Keeps a version, and drops those up to `dropTo`. */
  keep(taskSeq: number, version: ContextVersion, dropTo: number): Awaitable<void>;
  version(taskSeq: number, version: number): Awaitable<NamedVersion | undefined>;
  /** Newest first, each with its context left out. */
  list(taskSeq: number, page: Page): Awaitable<Omit<NamedVersion, "context">[]>;
}
