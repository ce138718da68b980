import type { ScopeKey } from "../../contract/scope.js";
import type { Near } from "./scope-rows.js";
import type { Awaitable, Page } from "./verbs.js";

/** What is declared for a branch; there is one row a branch and project, which is declared again when it has ended. */
export interface StoredUnlanded {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly branch: string;
  /** As JSON; where they are found by their names stands apart. */
  readonly scopes: string;
  readonly intent: string | null;
  /** The steward, and the session that it spoke from last. */
  readonly agent_id: string;
  readonly session_id: string | null;
  /** How often it was handed over, ever. */
  readonly hops: number;
  readonly offered_to: string | null;
  readonly declared_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
  readonly ended_how: UnlandedEnd | null;
}

export type UnlandedEnd = "landed" | "pruned" | "expired";

export interface UnlandedRow extends StoredUnlanded {
  readonly agent_name: string;
  /** 1 when the steward was deleted. */
  readonly agent_deleted: number;
}

export interface UnlandedScope {
  readonly unlanded_seq: number;
  readonly place: number;
  readonly namespace: string;
  readonly key: ScopeKey;
  readonly index_key: ScopeKey;
}

export type UnlandedChange = Partial<Omit<StoredUnlanded, "seq" | "id" | "workspace_id" | "project_id" | "branch">>;

export interface UnlandedFilter {
  readonly projectId?: string;
  readonly branch?: string;
  readonly agentId?: string;
  /** Whom it is offered to. */
  readonly offeredTo?: string;
  readonly seqs?: readonly number[];
  readonly ended: boolean;
  readonly nowMs: number;
}

export interface UnlandedVerbs {
  /** Whether this transaction has declared any: what it began with doesn't know of them. */
  readonly declared: boolean;
  /** Returns its sequence number. */
  insert(row: Omit<StoredUnlanded, "seq">): Awaitable<number>;
  /** The branch's row; who asks to write it waits for whoever else does, also where there is none yet. */
  ofBranch(projectId: string, branch: string): Awaitable<UnlandedRow | undefined>;
  byId(workspaceId: string, id: string): Awaitable<UnlandedRow | undefined>;
  change(seq: number, change: UnlandedChange): Awaitable<void>;
  /** It is over, offered to nobody, and found by its names no more. */
  end(seq: number, at: number, how: UnlandedEnd): Awaitable<void>;
  /** Those that the clock has ended and nobody recorded, to be changed; what another transaction has in hand is left to it. */
  due(nowMs: number, limit: number): Awaitable<UnlandedRow[]>;
  /** It is about these from now on. */
  putScopes(seq: number, rows: readonly UnlandedScope[]): Awaitable<void>;
  /** What lives at the time and has a scope that may overlap any of the names; that scope's key beside. */
  nearAny(
    namespace: string,
    near: readonly Near[],
    nowMs: number,
  ): Awaitable<(UnlandedRow & { readonly key: ScopeKey })[]>;
  /** What it is about, until it has ended. */
  scopesOf(seq: number): Awaitable<UnlandedScope[]>;
  /** In the order they were first declared. */
  list(workspaceId: string, filter: UnlandedFilter, page: Page): Awaitable<UnlandedRow[]>;
  /** All that live in the project, to be changed. */
  live(projectId: string, nowMs: number): Awaitable<UnlandedRow[]>;
}
