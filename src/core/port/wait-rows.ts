import type { ScopeKey } from "../../contract/scope.js";
import type { WAIT_ENDS } from "../../contract/wait.js";
import type { Near, ScopeMode } from "./scope-rows.js";
import type { Awaitable, Page } from "./verbs.js";

/** One name that a ticket wants. */
export interface WaitedName {
  readonly scope: string;
  readonly kind: string;
  readonly key: ScopeKey;
  readonly mode: ScopeMode;
  readonly namespace: string;
}

/** A name that nobody, or one fewer, is in the way of. */
export interface FreedName {
  readonly workspace_id: string;
  readonly namespace: string;
  readonly key: ScopeKey;
}

export type WaitEnd = (typeof WAIT_ENDS)[number];

/** A ticket as it is kept. */
export interface StoredWait {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  /** Both null where names are kept free for a task that was passed over. */
  readonly agent_id: string | null;
  readonly session_id: string | null;
  /** The task, and its lease, that the names are wanted for. */
  readonly task_id: string | null;
  readonly task_lease: string | null;
  /** The same for the same request: a repeat finds its ticket. */
  readonly mark: string;
  /** JSON of `WaitedName`s. */
  readonly wanted: string;
  readonly intent: string;
  readonly lease_seconds: number | null;
  readonly priority: number;
  readonly asked_at: number;
  /** Its place in every line, ms; the lower one is before the higher (core/line/line-order.ts). */
  readonly rank: number;
  readonly offered_until: number | null;
  readonly ended_at: number | null;
  readonly ended_how: WaitEnd | null;
  /** JSON of the ids of what it was granted. */
  readonly claims: string | null;
}

/** The same with what it lives by, and what is shown of who waits. */
export interface WaitRow extends StoredWait {
  /** When it ends at the latest, by its session and its task's lease; null where neither ends by the clock. 0: it has ended. */
  readonly until: number | null;
  readonly shared_by: string | null;
  readonly agent_name: string | null;
  readonly implicit: number | null;
  readonly client: string | null;
  readonly branch: string | null;
}

export interface WaitFilter {
  readonly projectId?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  /** Those that may want what overlaps a name. */
  readonly near?: { readonly namespace: string; readonly near: Near };
}

/** What somebody asked of a holder. */
export interface YieldRow {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly claim_id: string;
  readonly scope: string;
  readonly holder_agent: string;
  readonly holder_session: string;
  readonly asked_by_agent: string;
  readonly asked_by_session: string;
  readonly reason: string;
  readonly asked_at: number;
  readonly answer: "yield" | "hold" | "narrow" | null;
  readonly answer_reason: string | null;
  readonly answered_at: number | null;
}

export interface WaitVerbs {
  /** Whether anybody waits, in any workspace; most of the time nobody does. */
  readonly any: Awaitable<boolean>;
  /** Whether any ticket is offered what it wants. */
  anyOffered(): Awaitable<boolean>;
  add(row: Omit<StoredWait, "seq">, names: readonly (WaitedName & { readonly index_key: string })[]): Awaitable<void>;
  /** Tickets that nobody has recorded the end of and that may want what overlaps any of the names, those before others first. */
  nearAny(namespace: string, near: readonly Near[]): Awaitable<WaitRow[]>;
  byId(workspaceId: string, id: string): Awaitable<WaitRow | undefined>;
  bySeqs(seqs: readonly number[]): Awaitable<WaitRow[]>;
  /** Those of sessions that nobody has recorded the end of. */
  ofSessions(sessionIds: readonly string[]): Awaitable<WaitRow[]>;
  /** Those for a task under a lease of it that nobody has recorded the end of. */
  ofLease(taskId: string, leaseId: string): Awaitable<WaitRow[]>;
  /** Whether any was added through these verbs. */
  readonly added: boolean;
  /** What keeps names free for a task. */
  ofTask(taskId: string): Awaitable<WaitRow[]>;
  countOfAgent(agentId: string): Awaitable<number>;
  /** In order of the line, then of the tickets. */
  list(workspaceId: string, filter: WaitFilter, nowMs: number, page: Page): Awaitable<WaitRow[]>;
  /** Offers that the clock has ended and nobody recorded. */
  due(nowMs: number, limit: number): Awaitable<WaitRow[]>;
  /** Null takes the offer back. */
  offer(seq: number, untilMs: number | null): Awaitable<void>;
  /** False where it had ended before. */
  end(seq: number, at: number, how: WaitEnd, claims: string | null): Awaitable<boolean>;
  addYield(row: Omit<YieldRow, "seq">): Awaitable<void>;
  yieldById(workspaceId: string, id: string): Awaitable<YieldRow | undefined>;
  /** The one of a session about a claim that has no answer yet. */
  openYield(claimId: string, sessionId: string): Awaitable<YieldRow | undefined>;
  answerYield(id: string, answer: string, reason: string | null, at: number): Awaitable<void>;
  /** Open is what has no answer and is about a claim that lives. */
  yields(
    workspaceId: string,
    filter: {
      readonly projectId?: string;
      readonly holderSession?: string;
      readonly claimId?: string;
      readonly open?: boolean;
    },
    nowMs: number,
    page: Page,
  ): Awaitable<YieldRow[]>;
}
