import type { Body } from "../support/fresh-store.js";
import type { Wanted } from "./names.js";

/** What the model knows. Ids are those that Dibs gave; a record is bound to its id by the answer that first shows it. */

export type NoticeType = Body<"get_session">["notices"][number]["type"];

export type Role = "worker" | "coordinator" | "admin";

export interface Agent {
  readonly name: string;
  readonly id: string;
  readonly role: Role;
  /** The open session of calls that name none (R13). */
  implicit: Session | null;
}

export interface Session {
  id: string | null;
  readonly agent: Agent;
  /** Silence after which it ends, ms; null for an implicit one, which never ends of it. */
  readonly ttlMs: number | null;
  endsAtMs: number;
  state: "open" | "ended" | "expired";
  /** Whose end is also its own. */
  readonly parent: Session | null;
  /** What its program calls it. */
  harness: string | null;
  /** What resumes it, newest last: only that one does (R65). */
  readonly tokens: string[];
  /** What it must know and hasn't said that it does, oldest first (R54). */
  readonly notices: Notice[];
}

/** Told again and again until it is acknowledged by its id, which the first answer that has it gives. */
export interface Notice {
  id: string | null;
  readonly type: NoticeType;
  readonly task: Task | null;
  /** The name that was lost. */
  readonly name?: Wanted;
  /** What it is about; ids that nobody knows yet may be known later. */
  readonly about: () => Readonly<Record<string, unknown>>;
  /** Whether it is of no use any more. */
  readonly isOver?: () => boolean;
}

export type Reason = "expired" | "superseded" | "released" | "revoked" | "transferred" | "completed" | "never_held";

/** One grant of one task: a lease, living or ended. */
export interface Grant {
  id: string | null;
  readonly fence: number;
  readonly session: Session;
  readonly atMs: number;
  seconds: number;
  /** Its own end; its session's may come first. */
  untilMs: number;
  /** How it ended; null while it lives. */
  ended: Reason | null;
  /** Whether a late result was kept for it (R7). */
  late: boolean;
}

/** What is common to leases on tasks and on names. */
export interface Lease {
  readonly id: string | null;
  readonly fence: number | null;
  readonly session: Session;
  readonly seconds: number;
  readonly untilMs: number;
  /** The task's, where it lives by that. */
  readonly grant?: Grant | null;
}

export type Status = "open" | "claimed" | "delegated" | "completed" | "failed" | "cancelled";

export interface Task {
  id: string | null;
  readonly order: number;
  readonly createdBy: Agent;
  readonly content: string;
  project: string;
  labels: string[];
  priority: number;
  assignedTo: Agent | null;
  notBeforeMs: number | null;
  /** What must be completed before it is ready (R23). */
  waitsFor: Task[];
  /** The task it is a part of. */
  parent: Task | null;
  /** Who answers for it, and goes on with it when its parts are done (R25). */
  accountable: Agent | null;
  /** A part of it was given to others. */
  delegated: boolean;
  attempts: number;
  /** How often it was handed on since it was claimed from the queue, or its holder reported progress (R39). */
  hops: number;
  maxAttempts: number;
  /** Never `claimed`: that is whether a lease lives; nor `delegated`: that is whether it waits for a part of it. */
  status: Exclude<Status, "claimed" | "delegated">;
  readonly grants: Grant[];
  live: Grant | null;
  /** The last grant, where the clock ended it, and when; until the next one. */
  lapse: { grant: Grant; atMs: number } | null;
  /** Who asked to cancel it. */
  cancelAsked: Agent | null;
  closedBy: Agent | null;
  completedAtMs: number | null;
  failure: string | null;
  state: string | null;
  detail: string | null;
  progress: unknown;
  checkpoint: unknown;
  handoff: string | null;
  result: unknown;
  /** The call that last ended its lease, while nothing has happened to its status since: it may be repeated. */
  repeatable: "release" | "complete" | null;
  readonly lateResults: { result: unknown; by: Agent }[];
  /** Counts what changed it; a renewal doesn't (R5). */
  changes: number;
  deleted: boolean;
}

/** A freeze of a project, or of a name (R41). */
export interface Hold {
  id: string | null;
  readonly project: string;
  readonly on: Omit<Wanted, "mode"> | null;
  readonly endsAtMs: number;
  /** Whom it lets pass. */
  readonly allowed: readonly Agent[];
  lifted: boolean;
}

/** Who calls: an agent, in a session it names or in none. */
export interface Who {
  readonly agent: Agent;
  readonly session: Session | null;
}

export interface Proof {
  readonly lease_id?: string;
  readonly fence?: number;
}

export class Refusal {
  constructor(
    readonly code: string,
    readonly extra: { reason?: Reason; holder?: Lease; inTheWay?: readonly { id: string | null }[] } = {},
  ) {}
}
