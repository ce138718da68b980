import { Handoffs } from "./handoffs.js";
import { type Grant, type Hold, type Proof, Refusal, type Task, type Who } from "./records.js";

/**
 * The rules of the task queue in memory, written from the rules' text alone: no storage, nothing noticed late, nothing
 * cached. Time moves by `settle`, which does at once what the clock does (R1). A call that is refused throws a Refusal
 * and has changed nothing.
 */
export class Rules extends Handoffs {
  // Ending

  cancel(who: Who, target: Task, proof: Proof, reason: string | null = null): { task: Task; asked: boolean } {
    const task = this.existing(target);
    if (this.holds(who, task, proof)) {
      this.closeAs(task, "cancelled", who.agent, "completed");
      return { task, asked: false };
    }
    if (proof.lease_id !== undefined || proof.fence !== undefined) throw this.lostBy(who, task, proof).refusal;
    if (task.live) {
      const may = task.createdBy === who.agent || who.agent.role !== "worker";
      if (!may) throw new Refusal("task_claimed", { holder: task.live });
      if (!task.cancelAsked) this.askToStop(task, task.live, reason);
      task.cancelAsked ??= who.agent;
      return { task, asked: true };
    }
    if (task.status === "cancelled") return { task, asked: false };
    if (task.status !== "open") throw new Refusal("task_closed");
    this.mayChange(who, task);
    this.closeAs(task, "cancelled", who.agent, "completed");
    return { task, asked: false };
  }

  private askToStop(task: Task, live: Grant, reason: string | null): void {
    task.changes += 1;
    this.tell(live.session, { type: "cancel_requested", task, about: () => ({ lease_id: live.id, reason }) });
  }

  reopen(who: Who, target: Task): Task {
    const task = this.existing(target);
    if (task.live) throw new Refusal("task_claimed", { holder: task.live });
    if (task.status === "open") return task;
    this.mayChange(who, task);
    if (task.status === "completed") this.tellDependents(task);
    this.openAgain(task);
    task.result = null;
    return task;
  }

  /** R24: who holds what waited for it keeps that, and is told. */
  private tellDependents(task: Task): void {
    for (const other of this.tasks) {
      if (!other.live || !other.waitsFor.includes(task)) continue;
      this.tell(other.live.session, { type: "blocker.reopened", task: other, about: () => ({ blocker_id: task.id }) });
    }
  }

  retry(target: Task, reason?: string): Task {
    const task = this.existing(target);
    if (reason === undefined) throw new Refusal("reason_required");
    if (task.live) throw new Refusal("task_claimed", { holder: task.live });
    if (task.status === "open") return task;
    if (task.status !== "failed") throw new Refusal("task_closed");
    this.openAgain(task);
    return task;
  }

  protected openAgain(task: Task): void {
    const fresh = { status: "open", attempts: 0, closedBy: null, completedAtMs: null, failure: null, repeatable: null };
    Object.assign(task, fresh);
    task.changes += 1;
  }

  forceRelease(who: Who, target: Task, reason?: string): Task {
    const task = this.existing(target);
    if (reason === undefined) throw new Refusal("reason_required");
    if (!task.live && task.status === "open") return task;
    if (!task.live) throw new Refusal("task_closed");
    const { live } = task;
    this.endLease(task, "revoked", true, who.agent);
    this.tellLost(task, live);
    // Whoever forces the end of its own lease has released it.
    if (task.status === "open" && live.session === this.sessionOf(who)) task.repeatable = "release";
    task.changes += 1;
    return task;
  }

  // Records

  create(
    who: Who,
    input: Partial<
      Pick<
        Task,
        "content" | "priority" | "labels" | "project" | "assignedTo" | "notBeforeMs" | "maxAttempts" | "waitsFor"
      >
    >,
  ): Task {
    this.known(input.waitsFor ?? []);
    this.mayAssign(who, input.assignedTo);
    this.order += 1;
    const task: Task = {
      id: null,
      order: this.order,
      createdBy: who.agent,
      content: "a task",
      project: "default",
      labels: [],
      priority: 2,
      assignedTo: null,
      notBeforeMs: null,
      maxAttempts: 5,
      waitsFor: [],
      parent: null,
      accountable: null,
      delegated: false,
      ...input,
      attempts: 0,
      hops: 0,
      status: "open",
      grants: [],
      live: null,
      lapse: null,
      cancelAsked: null,
      closedBy: null,
      completedAtMs: null,
      failure: null,
      state: null,
      detail: null,
      progress: null,
      checkpoint: null,
      handoff: null,
      result: null,
      repeatable: null,
      lateResults: [],
      changes: 0,
      deleted: false,
    };
    this.tasks.push(task);
    return task;
  }

  /** R25: the task waits for a part of it, which is somebody else's; its lease ends, and its agent answers for it. */
  delegate(who: Who, target: Task, proof: Proof, part: Parameters<Rules["create"]>[1], handoff?: string): Task {
    const task = this.existing(target);
    const held = this.holds(who, task, proof) ? task.live : null;
    if (!held) this.mayDelegateUnheld(who, task, proof);
    if (task.cancelAsked) throw new Refusal("invalid_input");
    const standing = task.delegated ? task.accountable : null;
    const accountable = held?.session.agent ?? standing ?? task.assignedTo ?? who.agent;
    this.fitting(task, part.waitsFor ?? []);
    const { assignedTo = null, ...others } = part;
    const child = this.create(who, { project: task.project, ...others });
    Object.assign(child, { assignedTo, parent: task, accountable });
    if (held) {
      held.ended = "transferred";
      Object.assign(task, { live: null, state: null, detail: null, repeatable: null });
      task.attempts -= 1;
    }
    Object.assign(task, { delegated: true, accountable, assignedTo: accountable });
    task.waitsFor.push(child);
    if (handoff !== undefined) task.handoff = handoff;
    task.changes += 1;
    return child;
  }

  private mayDelegateUnheld(who: Who, task: Task, proof: Proof): void {
    if (proof.lease_id !== undefined || proof.fence !== undefined) throw this.lostBy(who, task, proof).refusal;
    if (task.live) throw new Refusal("task_claimed", { holder: task.live });
    if (task.status !== "open") throw new Refusal("task_closed");
    if (!(this.delegated(task) && task.accountable === who.agent)) this.role(who, "coordinator");
  }

  update(
    who: Who,
    target: Task,
    change: Partial<
      Pick<Task, "priority" | "labels" | "assignedTo" | "notBeforeMs" | "maxAttempts" | "project" | "waitsFor">
    >,
  ): Task {
    const task = this.existing(target);
    this.mayChange(who, task);
    this.mayAssign(who, change.assignedTo);
    const later = change.notBeforeMs != null && change.notBeforeMs > this.nowMs;
    if (later && task.live) throw new Refusal("invalid_input");
    if (change.waitsFor) this.fitting(task, change.waitsFor);
    // The attempt under way may be the last; what is open has one left.
    const least = task.status === "open" && !task.live ? task.attempts + 1 : task.attempts;
    if (change.maxAttempts !== undefined && change.maxAttempts < least) throw new Refusal("invalid_input");
    Object.assign(task, change);
    task.changes += 1;
    return task;
  }

  // Holds

  place(project: string, seconds: number, on: Hold["on"] = null, allowed: Hold["allowed"] = []): Hold {
    const hold: Hold = { id: null, project, on, allowed, endsAtMs: this.nowMs + seconds * 1000, lifted: false };
    this.freezes.push(hold);
    return hold;
  }

  /** What is over stays as it is. */
  lift(hold: Hold | undefined): Hold {
    if (!hold) throw new Refusal("not_found");
    if (this.isLive(hold)) hold.lifted = true;
    return hold;
  }

  // Dependencies

  /** Refused at write: what isn't there, and what waits for the task already, over any number of others (R23). */
  protected fitting(task: Task, blockers: readonly Task[]): void {
    this.known(blockers);
    const above = new Set<Task>();
    const climb = (each: Task) => {
      if (above.has(each)) return;
      above.add(each);
      each.waitsFor.forEach(climb);
    };
    for (const blocker of blockers) if (!task.waitsFor.includes(blocker)) climb(blocker);
    if (above.has(task)) throw new Refusal("dependency_cycle");
  }

  protected known(blockers: readonly Task[]): void {
    if (blockers.some(({ deleted }) => deleted)) throw new Refusal("unknown_dependency");
  }

  waitFor(who: Who, target: Task, blockers: readonly Task[]): Task {
    const task = this.existing(target);
    this.mayChange(who, task);
    this.fitting(task, blockers);
    const added = [...new Set(blockers)].filter((blocker) => !task.waitsFor.includes(blocker));
    task.waitsFor.push(...added);
    if (added.length > 0) task.changes += 1;
    return task;
  }

  waitNoMore(who: Who, target: Task, blocker: Task): Task {
    const task = this.existing(target);
    this.mayChange(who, task);
    this.existing(blocker);
    if (!task.waitsFor.includes(blocker)) return task;
    task.waitsFor = task.waitsFor.filter((other) => other !== blocker);
    task.changes += 1;
    return task;
  }

  remove(who: Who, target: Task, force: boolean): Task {
    const task = this.existing(target);
    if (task.live) throw new Refusal("task_claimed", { holder: task.live });
    this.mayChange(who, task);
    const dependents = this.tasks.filter((other) => !other.deleted && other.waitsFor.includes(task));
    if (dependents.length > 0 && !force) throw new Refusal("has_dependents");
    for (const other of dependents) other.waitsFor = other.waitsFor.filter((each) => each !== task);
    for (const other of this.tasks) if (other.parent === task) other.parent = null;
    task.deleted = true;
    return task;
  }
}
