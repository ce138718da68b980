import { type Agent, type Grant, type Proof, Refusal, type Session, type Task, type Who } from "./records.js";
import { Standing } from "./standing.js";

/** The life of a claim: taking, keeping and giving back. */
export class Holding extends Standing {
  // Taking

  claimNext(who: Who, input: { labels?: string[]; project?: string; seconds?: number; count?: number }): Task[] {
    const seconds = this.secondsOf(input.seconds);
    const fitting = this.queueWithFrozen().filter(
      (task) =>
        (task.assignedTo === null || task.assignedTo === who.agent) &&
        (input.project === undefined || task.project === input.project) &&
        (input.labels ?? []).every((label) => task.labels.includes(label)),
    );
    const taken: Task[] = [];
    for (const task of fitting) {
      if (taken.length === (input.count ?? 1)) break;
      if (this.passedOver(who, task)) continue;
      this.grantTo(who, task, seconds);
      taken.push(task);
    }
    return taken;
  }

  /** Whether something else than the queue keeps the caller from it. */
  protected passedOver(_who: Who, task: Task): boolean {
    return this.isFrozen(task);
  }

  claim(who: Who, target: Task, input: { seconds?: number; takeover?: boolean; reason?: string }): Task {
    const task = this.existing(target);
    const seconds = this.secondsOf(input.seconds);
    if (task.live && this.holds(who, task)) this.renewFor(task.live, seconds);
    else if (task.live && input.takeover) this.takeOver(who, task, task.live, seconds, input.reason);
    else {
      const refusal = this.why(who, task);
      if (refusal) throw refusal;
      this.grantTo(who, task, seconds);
    }
    return task;
  }

  protected takeOver(who: Who, task: Task, held: Grant, seconds: number, reason: string | undefined): void {
    if (held.session.agent !== who.agent) this.role(who, "admin");
    if (reason === undefined) throw new Refusal("reason_required");
    if (this.isFrozen(task)) throw new Refusal("frozen");
    this.mayMove(who, task);
    held.ended = "revoked";
    this.tellLost(task, held);
    this.grantTo(who, task, seconds);
    // R19: it is to be cancelled still.
    const granted = task.grants.at(-1) as Grant;
    const about = () => ({ lease_id: granted.id });
    if (task.cancelAsked) this.tell(granted.session, { type: "cancel_requested", task, about });
  }

  /** Whether another may have what the task holds. */
  protected mayMove(_who: Who, _task: Task): void {}

  protected grantTo(who: Who, task: Task, seconds: number): void {
    const session = this.sessionOf(who) ?? this.openImplicit(who.agent);
    const fence = (task.grants.at(-1)?.fence ?? 0) + 1;
    const untilMs = this.nowMs + seconds * 1000;
    const grant: Grant = { id: null, fence, session, atMs: this.nowMs, seconds, untilMs, ended: null, late: false };
    task.grants.push(grant);
    Object.assign(task, { live: grant, lapse: null, state: "working", detail: null, repeatable: null, hops: 0 });
    task.attempts += 1;
    task.changes += 1;
  }

  protected openImplicit(agent: Agent): Session {
    agent.implicit = this.newSession(agent, null, null);
    return agent.implicit;
  }

  protected newSession(agent: Agent, ttlMs: number | null, parent: Session | null): Session {
    const endsAtMs = ttlMs === null ? Infinity : this.nowMs + ttlMs;
    const nobody = { id: null, harness: null, tokens: [], notices: [] };
    const session: Session = { ...nobody, agent, ttlMs, endsAtMs, parent, state: "open" };
    this.sessions.push(session);
    return session;
  }

  protected renewFor(grant: Grant, seconds: number): void {
    grant.seconds = seconds;
    grant.untilMs = Math.max(grant.untilMs, this.nowMs + seconds * 1000);
  }

  // Holding

  heartbeat(
    who: Who,
    target: Task,
    proof: Proof,
    said: { seconds?: number; state?: string; detail?: string; progress?: unknown; checkpoint?: unknown },
  ): Task {
    const task = this.existing(target);
    const seconds = this.secondsOf(said.seconds, task.live?.seconds);
    this.renewFor(this.heldBy(who, task, proof), seconds);
    this.saySo(task, said);
    if (said.progress !== undefined) Object.assign(task, { progress: said.progress, hops: 0 });
    if (said.checkpoint !== undefined) task.checkpoint = said.checkpoint;
    return task;
  }

  state(who: Who, target: Task, proof: Proof, said: { state: string; detail?: string }): Task {
    const task = this.existing(target);
    this.heldBy(who, task, proof);
    this.saySo(task, said);
    return task;
  }

  protected saySo(task: Task, said: { state?: string; detail?: string }): void {
    const state = said.state ?? task.state;
    const detail = said.state === undefined ? (said.detail ?? task.detail) : (said.detail ?? null);
    if (state !== task.state || detail !== task.detail) task.changes += 1;
    Object.assign(task, { state, detail });
  }

  release(who: Who, target: Task, proof: Proof, handoff?: string): Task {
    const task = this.existing(target);
    if (!this.holds(who, task, proof) && this.isRepeat(who, task, proof, "release")) return task;
    this.heldBy(who, task, proof);
    if (handoff !== undefined) task.handoff = handoff;
    this.endLease(task, "released", false, who.agent);
    task.changes += 1;
    if (task.status === "open") task.repeatable = "release";
    return task;
  }

  complete(who: Who, target: Task, proof: Proof, result?: unknown): Task {
    const task = this.existing(target);
    const same = JSON.stringify(result ?? null) === JSON.stringify(task.result ?? null);
    if (!this.holds(who, task, proof)) {
      const repeated = this.isRepeat(who, task, proof, "complete");
      if (repeated && same) return task;
      throw this.keepLate(who, task, proof, repeated ? undefined : result);
    }
    this.closeAs(task, "completed", who.agent, "completed");
    task.result = result ?? null;
    task.completedAtMs = this.nowMs;
    task.repeatable = "complete";
    return task;
  }

  /** R7: kept once for the lease that was lost. */
  protected keepLate(who: Who, task: Task, proof: Proof, result: unknown): Refusal {
    const { refusal, grant } = this.lostBy(who, task, proof);
    if (result !== undefined && grant && !grant.late) {
      grant.late = true;
      task.lateResults.push({ result, by: who.agent });
    }
    return refusal;
  }

  protected isRepeat(who: Who, task: Task, proof: Proof, call: "release" | "complete"): boolean {
    const last = task.grants.at(-1);
    if (!last || task.repeatable !== call || last.session !== this.sessionOf(who)) return false;
    return (proof.lease_id ?? last.id) === last.id && (proof.fence ?? last.fence) === last.fence;
  }

  fail(who: Who, target: Task, proof: Proof, input: { reason?: string; retry?: boolean }): Task {
    const task = this.existing(target);
    if (input.reason === undefined) throw new Refusal("reason_required");
    this.heldBy(who, task, proof);
    if (!input.retry) {
      this.closeAs(task, "failed", who.agent, "completed");
      task.failure = input.reason;
      return task;
    }
    const asked = task.cancelAsked !== null;
    this.endLease(task, asked ? "completed" : "released", true, who.agent);
    if (task.status === "open") task.failure = input.reason;
    if (task.status === "failed") (task.grants.at(-1) as Grant).ended = "completed";
    task.changes += 1;
    return task;
  }
}
