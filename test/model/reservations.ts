import { overlap } from "./names.js";
import type { Agent, Session, Task, Who } from "./records.js";
import type { ScopedTasks } from "./scoped-tasks.js";
import { LEVEL_MS, type Ticket, Tickets } from "./tickets.js";

/** Two lease lengths. */
const PATIENCE_MS = 600_000;

const NOBODY: Agent = { name: "nobody", id: "", role: "worker", implicit: null };

/** A place in line that is nobody's: kept for a task, for whoever claims it. */
export function isReservation({ session }: Pick<Ticket, "session">): boolean {
  return session.agent === NOBODY;
}

/** Each its own, or one would pass another as a session passes what is its own. */
const nobodysSession = (): Session => ({
  ...{ id: "", agent: NOBODY, ttlMs: null, endsAtMs: Infinity, state: "open" },
  ...{ parent: null, harness: null, tokens: [], notices: [] },
});

/** Since when a task is passed over: for sure, and perhaps. */
interface Passed {
  sureMs: number;
  maybeMs: number;
}

/** A task passed over for two lease lengths reserves its scopes like an exclusive waiter (R16). */
export class Reservations extends Tickets {
  readonly #passed = new Map<Task, Passed>();
  readonly #over = new Set<Ticket>();
  /** Tasks that by the log were reserved for at this instant: where the rules leave it open, that decides. */
  reservedNow: ReadonlySet<string> = new Set();

  /** That a task is passed over together with one that wants the same, though no claim came to it, the rules leave open. */
  get isUnsure(): boolean {
    return [...this.#passed.values()].some((each) => this.isOver(each.maybeMs) && !this.isOver(each.sureMs));
  }

  private isOver(sinceMs: number): boolean {
    return this.nowMs - sinceMs >= PATIENCE_MS;
  }

  reservationOf(task: Task): Ticket | undefined {
    return this.tickets.find((each) => isReservation(each) && each.task === task && this.inLine(each));
  }

  override inLine(ticket: Ticket): boolean {
    return (
      super.inLine(ticket) && (!isReservation(ticket) || (!ticket.task?.deleted && this.startable(ticket.task as Task)))
    );
  }

  override instants(): number[] {
    const ends = [...this.#passed.values()].map(({ sureMs }) => sureMs + PATIENCE_MS);
    return [...new Set([...super.instants(), ...ends.filter((at) => at > this.nowMs && at < Infinity)])].sort(
      (a, b) => a - b,
    );
  }

  /** Whoever claims the task asks from the place that is kept for it. */
  protected override taskInTheWay(who: Who, task: Task): { id: string | null }[] {
    const ticket = this.reservationOf(task) ?? null;
    const asker = { session: this.sessionOf(who), task, priority: task.priority, ticket };
    return this.inTheWay(asker, this.declares(task));
  }

  protected override passedOver(who: Who, task: Task): boolean {
    const passed = super.passedOver(who, task);
    const last = this.skipped.at(-1);
    if (passed && last?.task === task && !last.frozen) this.wasPassedOver(task, last.inTheWay as never);
    return passed;
  }

  private wasPassedOver(task: Task, inTheWay: readonly Parameters<Reservations["wants"]>[1][]): void {
    const before = this.#passed.get(task);
    const since = { sureMs: Math.min(before?.sureMs ?? Infinity, this.nowMs), maybeMs: before?.maybeMs ?? this.nowMs };
    const starved =
      this.isOver(since.sureMs) || (this.isOver(since.maybeMs) && this.reservedNow.has(task.id as string));
    this.#passed.set(task, since);
    for (const other of this.tasks) {
      if (this.#passed.has(other) || !this.startable(other)) continue;
      if (inTheWay.some((each) => this.wants(other, each)))
        this.#passed.set(other, { sureMs: Infinity, maybeMs: this.nowMs });
    }
    if (starved && !this.reservationOf(task)) this.reserve(task);
  }

  private wants(task: Task, each: Ticket | ScopedTasks["claims"][number]): boolean {
    const names = "wanted" in each ? each.wanted : [each];
    return this.declares(task).some((own) => names.some((name) => overlap(own, name)));
  }

  private reserve(task: Task): void {
    const { project, priority, content: intent } = task;
    const place = { order: this.tickets.length, rank: this.nowMs - priority * LEVEL_MS, priority };
    const fresh = { id: null, offeredUntilMs: null, ended: null, granted: [] };
    const wanted = this.declares(task);
    const ticket = {
      session: nobodysSession(),
      task,
      grant: null,
      wanted,
      project,
      intent,
      seconds: 0,
      ...place,
      ...fresh,
    };
    this.tickets.push(ticket);
    this.reached("reserved for a starved task");
    // It may have been in the way of the caller alone.
    this.freed.push(...wanted);
  }

  override settle(nowMs: number): void {
    super.settle(nowMs);
    this.endReservations();
  }

  override notice(): void {
    this.endReservations();
    super.notice();
  }

  /** Kept for a task that is not to be claimed any more, or that nobody claimed in time: it counts as never passed over. */
  private endReservations(): void {
    for (const ticket of this.tickets) {
      const { task } = ticket;
      if (!isReservation(ticket) || this.inLine(ticket) || task === null || this.#over.has(ticket)) continue;
      if (ticket.ended === "offer_expired") this.reached("kept free for a task that nobody took");
      else if (ticket.ended === null) this.reached("kept free no more, as the task is not ready");
      ticket.ended ??= "task_lost";
      this.#over.add(ticket);
      this.#passed.delete(task);
    }
  }

  protected override grantTo(...[who, task, seconds]: Parameters<Tickets["grantTo"]>): void {
    const ticket = this.reservationOf(task);
    if (ticket) {
      ticket.ended = "granted";
      this.reached("a starved task was claimed");
    }
    super.grantTo(who, task, seconds);
    this.#passed.delete(task);
  }
}

/** They are listed nowhere: which one keeps somebody out is told by the task that it is for. */
export function bindReservations(
  inTheWay: readonly object[],
  shown: readonly { readonly id: string; readonly task_id: string | null; readonly session_id: string }[],
): void {
  for (const each of inTheWay as readonly Ticket[]) {
    if (!each.wanted || !isReservation(each)) continue;
    const own = shown.find(({ task_id, session_id }) => session_id === "" && task_id === each.task?.id);
    if (own) each.id ??= own.id;
  }
}
