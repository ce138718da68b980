import { reasonLost } from "./lost-leases.js";
import {
  type Agent,
  type Grant,
  type Hold,
  type Lease,
  type Notice,
  type Proof,
  type Reason,
  Refusal,
  type Session,
  type Task,
  type Who,
} from "./records.js";

const LEASE = { shortest: 30, usual: 300, longest: 3600 };
const ROLES = ["worker", "coordinator", "admin"];

/** How things stand at an instant: what lives, who may what, what is ready, and how a lease ends. */
export class Standing {
  readonly tasks: Task[] = [];
  readonly sessions: Session[] = [];
  readonly freezes: Hold[] = [];
  /** Who asks, or looks, as holds let some pass. */
  caller: Agent | null = null;
  protected order = 0;
  /** How many leases on tasks the clock ended since somebody wrote. */
  protected lapses = 0;

  constructor(public nowMs: number) {}

  // The clock

  /** Everything that ends by the clock up to now (R1, R9, R20). */
  settle(nowMs: number): void {
    this.nowMs = nowMs;
    for (const session of this.sessions) {
      if (session.state === "open" && session.endsAtMs <= nowMs) session.state = "expired";
    }
    for (const task of this.tasks) {
      const { live } = task;
      if (live && leaseEndMs(live) <= nowMs) this.lapseOf(task, live);
    }
  }

  /** The instants at which the clock alone changes something, ascending. */
  instants(): number[] {
    const ends = this.tasks.flatMap((task) => [
      ...(task.live ? [leaseEndMs(task.live)] : []),
      ...(task.notBeforeMs === null ? [] : [task.notBeforeMs]),
    ]);
    const silent = this.sessions.filter((session) => session.state === "open").map((session) => session.endsAtMs);
    const thawed = this.freezes.map(({ endsAtMs }) => endsAtMs);
    return [...new Set([...ends, ...silent, ...thawed])]
      .filter((at) => at > this.nowMs && at < Infinity)
      .sort((a, b) => a - b);
  }

  protected lapseOf(task: Task, grant: Grant): void {
    task.lapse = { grant, atMs: leaseEndMs(grant) };
    this.endLease(task, "expired", true, null);
    this.tellLost(task, grant);
    this.lapses += 1;
  }

  // What sessions are told (R54)

  protected tell(session: Session, notice: Omit<Notice, "id">): void {
    session.notices.push({ id: null, ...notice });
  }

  protected tellLost(task: Task, grant: Grant): void {
    const { ended: reason, fence } = grant;
    this.tell(grant.session, { type: "lease.lost", task, about: () => ({ reason, lease_id: grant.id, fence }) });
  }

  told(session: Session): Notice[] {
    return session.notices.filter((each) => !each.isOver?.());
  }

  /** What is acknowledged is told no more. */
  acknowledge(session: Session, ids: readonly string[]): number {
    const kept = this.told(session).filter(({ id }) => !ids.includes(id as string));
    const known = this.told(session).length - kept.length;
    session.notices.splice(0, session.notices.length, ...kept);
    return known;
  }

  /** Leases of which less than a third is left: until they are renewed, or gone. */
  expiring(session: Session): Grant[] {
    const live = this.tasks.flatMap((task) => (task.live?.session === session ? [task.live] : []));
    return live.filter((grant) => leaseEndMs(grant) - this.nowMs < (grant.seconds * 1000) / 3);
  }

  // Who may

  /** The session of a call that writes; an ended one refuses everything (R10). */
  alive(who: Who): void {
    if (who.session && who.session.state !== "open") throw new Refusal("session_ended");
  }

  role(who: Who, least: string): void {
    if (ROLES.indexOf(who.agent.role) < ROLES.indexOf(least)) throw new Refusal("forbidden");
  }

  protected sessionOf(who: Who): Session | null {
    return who.session ?? who.agent.implicit;
  }

  holds(who: Who, task: Task, proof: Proof = {}): boolean {
    const { live } = task;
    if (!live || live.session !== this.sessionOf(who)) return false;
    return (proof.lease_id ?? live.id) === live.id && (proof.fence ?? live.fence) === live.fence;
  }

  protected mayChange(who: Who, task: Task): void {
    if (this.holds(who, task)) return;
    if (task.live) throw new Refusal("task_claimed", { holder: task.live });
    const own = task.createdBy === who.agent || task.assignedTo === who.agent;
    if (!own) this.role(who, "coordinator");
  }

  protected mayAssign(who: Who, to: Agent | null | undefined): void {
    if (to && to !== who.agent) this.role(who, "coordinator");
  }

  protected existing(task: Task): Task {
    if (task.deleted) throw new Refusal("not_found");
    return task;
  }

  protected heldBy(who: Who, task: Task, proof: Proof): Grant {
    if (task.live && this.holds(who, task, proof)) return task.live;
    throw this.lostBy(who, task, proof).refusal;
  }

  protected lostBy(who: Who, task: Task, proof: Proof): { refusal: Refusal; grant: Grant | null } {
    const { reason, grant } = reasonLost(task, who.agent, this.sessionOf(who), proof);
    return { refusal: new Refusal("lease_lost", { reason, ...(task.live ? { holder: task.live } : {}) }), grant };
  }

  protected secondsOf(asked: number | undefined, otherwise = LEASE.usual): number {
    if (asked === undefined) return otherwise;
    if (asked < LEASE.shortest || asked > LEASE.longest) throw new Refusal("invalid_input");
    return asked;
  }

  // Readiness

  isLive(hold: Hold): boolean {
    return !hold.lifted && this.nowMs < hold.endsAtMs;
  }

  /** The holds that don't let an agent pass. */
  protected freezesFor(agent: Agent | null): Hold[] {
    return this.freezes.filter((hold) => this.isLive(hold) && (agent === null || !hold.allowed.includes(agent)));
  }

  /** R41: nobody new gets it but who may pass, whoever has it goes on. */
  protected isFrozen(task: Task): boolean {
    return this.freezesFor(this.caller).some((hold) => hold.on === null && hold.project === task.project);
  }

  /** R14, for a task whose dead lease is no lease. */
  ready(task: Task): boolean {
    return this.startable(task) && !this.isFrozen(task);
  }

  frozen(task: Task): boolean {
    return this.startable(task) && this.isFrozen(task);
  }

  protected startable(task: Task): boolean {
    const started = task.notBeforeMs === null || task.notBeforeMs <= this.nowMs;
    return task.status === "open" && !task.live && task.attempts < task.maxAttempts && started && !this.waits(task);
  }

  /** R23: only `completed` satisfies. */
  protected waits(task: Task): boolean {
    return task.status === "open" && !task.live && openBlockers(task).length > 0;
  }

  blocked(task: Task): boolean {
    return this.waits(task) && !task.delegated;
  }

  /** R25: it waits for parts of it that others do. */
  delegated(task: Task): boolean {
    return this.waits(task) && task.delegated;
  }

  /** R23: something it waits for will not be completed unless somebody acts. */
  stalled(task: Task): boolean {
    return this.waits(task) && task.waitsFor.some(({ status }) => status === "failed" || status === "cancelled");
  }

  /** The first cause that keeps the caller from a task (R17). */
  why(who: Who, task: Task): Refusal | null {
    if (task.status !== "open") return new Refusal("task_closed");
    if (this.delegated(task)) return new Refusal("task_delegated");
    if (task.live) return new Refusal("task_claimed", { holder: task.live });
    if (task.notBeforeMs !== null && task.notBeforeMs > this.nowMs) return new Refusal("task_scheduled");
    if (this.blocked(task)) return new Refusal("task_blocked");
    if (this.isFrozen(task)) return new Refusal("frozen");
    if (task.assignedTo && task.assignedTo !== who.agent) return new Refusal("task_assigned");
    return null;
  }

  /** Ready tasks in the order they are handed out (R15). */
  queue(): Task[] {
    return this.queueWithFrozen().filter((task) => !this.isFrozen(task));
  }

  protected queueWithFrozen(): Task[] {
    const ready = this.tasks.filter((task) => !task.deleted && this.startable(task));
    return ready.sort((a, b) => b.priority - a.priority || a.order - b.order);
  }

  /** What becomes of a task whose lease ends without a result (R18, R19, R20). */
  protected endLease(task: Task, how: Reason, counted: boolean, by: Agent | null): void {
    const grant = task.live as Grant;
    grant.ended = how;
    if (!counted) task.attempts -= 1;
    const { cancelAsked } = task;
    Object.assign(task, { live: null, state: null, detail: null, cancelAsked: null, repeatable: null });
    if (cancelAsked) Object.assign(task, { status: "cancelled", closedBy: cancelAsked });
    else if (task.attempts >= task.maxAttempts) {
      Object.assign(task, { status: "failed", closedBy: by, failure: "attempts_exhausted" });
    }
  }

  protected closeAs(task: Task, status: Task["status"], by: Agent, how: Reason): void {
    if (task.live) task.live.ended = how;
    Object.assign(task, { live: null, state: null, detail: null, cancelAsked: null, repeatable: null });
    Object.assign(task, { status, closedBy: by });
    task.changes += 1;
  }
}

/** R1: the earlier of the lease's end and its session's. */
export function leaseEndMs({ untilMs, session, grant }: Lease): number {
  return grant ? leaseEndMs(grant) : Math.min(untilMs, session.endsAtMs);
}

export function openBlockers(task: Task): Task[] {
  return task.waitsFor.filter(({ status }) => status !== "completed");
}
