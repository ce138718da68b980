import { collide, overlap, type Wanted } from "./names.js";
import type { Grant, Hold, Notice, Session, Task, Who } from "./records.js";
import { ScopedTasks } from "./scoped-tasks.js";
import type { Asker, Claim } from "./scopes.js";
import { leaseEndMs } from "./standing.js";

const OFFER_MS = 30_000;
/** A level of priority is worth so much of waiting. */
export const LEVEL_MS = 300_000;

/** A place in line (R35). */
export interface Ticket {
  id: string | null;
  readonly session: Session;
  readonly task: Task | null;
  readonly grant: Grant | null;
  readonly wanted: readonly Wanted[];
  readonly project: string;
  readonly intent: string;
  readonly seconds: number;
  readonly priority: number;
  readonly order: number;
  /** The lower one is before the higher. */
  readonly rank: number;
  /** Until when it is offered what it wants (R36). */
  offeredUntilMs: number | null;
  ended: string | null;
  granted: readonly Claim[];
}

/** Who asks from a place in line, its own or the one it would get. */
export interface InLine extends Asker {
  readonly ticket: Ticket | null;
}

/** Those that wait for names: until when, who is before whom, and who is offered what (R35, R36). */
export class Tickets extends ScopedTasks {
  readonly tickets: Ticket[] = [];
  /** What became free otherwise than by an end. */
  protected readonly freed: Wanted[] = [];
  /** What was seen to have ended. */
  readonly #noticed = new Set<Claim | Ticket | Hold>();

  // The clock

  /** Until when a ticket may wait: its session's end, or its task's lease's. */
  private lifeOf({ grant, session }: Ticket): number {
    return grant ? leaseEndMs(grant) : session.endsAtMs;
  }

  inLine(ticket: Ticket): boolean {
    if (ticket.ended !== null || ticket.session.state !== "open" || (ticket.grant?.ended ?? null) !== null)
      return false;
    return this.nowMs < this.lifeOf(ticket) && this.nowMs < (ticket.offeredUntilMs ?? Infinity);
  }

  offered(ticket: Ticket): boolean {
    return ticket.offeredUntilMs !== null && this.inLine(ticket);
  }

  override settle(nowMs: number): void {
    const waiting = this.tickets.filter((ticket) => this.inLine(ticket));
    super.settle(nowMs);
    for (const ticket of waiting) {
      if (this.inLine(ticket)) continue;
      const silent = (ticket.offeredUntilMs ?? Infinity) <= Math.min(nowMs, this.lifeOf(ticket));
      ticket.ended = silent ? "offer_expired" : ticket.task ? "task_lost" : "session_ended";
      this.reached(`a ticket ended: ${ticket.ended}`);
    }
  }

  override instants(): number[] {
    const ends = this.tickets.filter((ticket) => this.offered(ticket)).map((ticket) => ticket.offeredUntilMs as number);
    return [...new Set([...super.instants(), ...ends])].sort((a, b) => a - b);
  }

  /** So many claims, and so many tasks, may have to be noticed by the next call. */
  get unnoticed(): number {
    const dead = this.claims.filter((claim) => !this.lives(claim) && !this.#noticed.has(claim));
    const tasks = new Set(dead.flatMap(({ task }) => task ?? []));
    const asleep = this.tasks.filter((task) => task.status === "open" && this.declares(task).length > 0);
    const names = dead.filter(({ task }) => !task).length;
    const holds = this.freezes.filter((hold) => !this.isLive(hold) && !this.#noticed.has(hold));
    if (dead.length + holds.length + this.lapses === 0) return 0;
    return Math.max(names, holds.length, Math.max(tasks.size, this.lapses) + asleep.length);
  }

  /**
   * Whoever writes notices what became free, and offers it to the first in line who can have all that it waits for, then to
   * the next (R36).
   */
  notice(): void {
    this.expireOffers();
    this.lapses = 0;
    const over = [
      ...this.claims.filter((each) => !this.lives(each)),
      ...this.tickets.filter((each) => !this.inLine(each)),
    ];
    const fresh = over.filter((each) => !this.#noticed.has(each));
    for (const hold of this.freezes) {
      if (this.isLive(hold) || this.#noticed.has(hold)) continue;
      this.#noticed.add(hold);
      this.freed.push(...this.thawed(hold));
    }
    if (fresh.length + this.freed.length === 0) return;
    for (const each of fresh) {
      this.#noticed.add(each);
      if ("wanted" in each && each.ended !== "granted" && each.ended !== "cancelled") this.tellOf(each, "wait.ended");
    }
    const freed = [...fresh.flatMap((each) => ("wanted" in each ? each.wanted : [each])), ...this.freed.splice(0)];
    const met = this.inOrder().filter((ticket) =>
      ticket.wanted.some((each) => freed.some((one) => overlap(one, each))),
    );
    for (const ticket of met) this.offerIfFree(ticket);
    if (this.freed.length > 0) this.notice();
  }

  /** Who has more than before may pass more of those before it: what else it waits for is looked at again. */
  private lookAtOwn(session: Session): void {
    for (const own of this.tickets)
      if (own.session === session && this.inLine(own) && !this.offered(own)) this.freed.push(...own.wanted);
  }

  protected override grantName(...what: Parameters<ScopedTasks["grantName"]>): Claim {
    this.lookAtOwn(what[1].session);
    return super.grantName(...what);
  }

  protected override tell(session: Session, notice: Omit<Notice, "id">): void {
    super.tell(session, notice);
    this.reached(`told: ${notice.type}`);
  }

  protected tellOf(ticket: Ticket, type: Notice["type"]): void {
    this.tell(ticket.session, { type, task: ticket.task, about: () => ({ ticket: ticket.id }) });
  }

  /** It keeps its place in line. */
  protected withdraw(ticket: Ticket): void {
    if (this.offered(ticket)) this.tellOf(ticket, "wait.overruled");
    ticket.offeredUntilMs = null;
    this.freed.push(...ticket.wanted);
  }

  /** What is offered and not taken is offered no more (R41). */
  override place(...what: Parameters<ScopedTasks["place"]>): Hold {
    const hold = super.place(...what);
    for (const ticket of this.inOrder().filter((each) => this.frozenInLine(each))) {
      if (this.offered(ticket)) this.reached("offered no more, as it is frozen");
      this.withdraw(ticket);
    }
    return hold;
  }

  private frozenInLine({ wanted, project, session }: Ticket): boolean {
    return this.frozenNames(wanted, project, session.agent);
  }

  /** What thaws when it is over. */
  private thawed({ on, project }: Hold): Wanted[] {
    if (on) return [{ ...on, mode: "exclusive" }];
    return this.tickets.filter((ticket) => ticket.project === project).flatMap(({ wanted }) => wanted);
  }

  /** Those that wait, the first first. */
  inOrder(): Ticket[] {
    return this.tickets.filter((each) => this.inLine(each)).sort((a, b) => a.rank - b.rank || a.order - b.order);
  }

  protected offerIfFree(ticket: Ticket): void {
    if (this.offered(ticket) || this.frozenInLine(ticket) || this.inTheWay(by(ticket), ticket.wanted).length > 0)
      return;
    ticket.offeredUntilMs = this.nowMs + OFFER_MS;
    this.tellOf(ticket, "wait.offered");
    this.lookAtOwn(ticket.session);
    this.reached("offered");
  }

  // Who is in the way

  protected isBefore(ticket: Ticket, { ticket: own, priority }: InLine): boolean {
    const rank = own?.rank ?? this.nowMs - priority * LEVEL_MS;
    return ticket.rank < rank || (ticket.rank === rank && (own === null || ticket.order < own.order));
  }

  /** Tickets of others that want what collides. */
  protected others(asker: InLine, wanted: readonly Wanted[]): Ticket[] {
    return this.tickets.filter(
      (ticket) =>
        this.inLine(ticket) &&
        ticket !== asker.ticket &&
        ticket.session !== asker.session &&
        // In line for whoever claims it.
        (ticket.grant !== null || asker.task === null || ticket.task !== asker.task) &&
        ticket.wanted.some((each) => wanted.some((other) => collide(each, other))),
    );
  }

  protected heldOrOffered(asker: InLine, wanted: readonly Wanted[]): (Claim | Ticket)[] {
    const offers = this.others(asker, wanted).filter((ticket) => this.offered(ticket));
    return [...this.colliding(asker, wanted), ...offers];
  }

  /** What others hold, or are offered. */
  protected hardInTheWay(asker: InLine, wanted: readonly Wanted[]): (Claim | Ticket)[] {
    return this.places.inTheWay(this.heldOrOffered(asker, wanted), wanted);
  }

  /** R19: what a task holds goes with it, whoever waits for it. */
  protected override mayMove(who: Who, task: Task): void {
    const asker = { session: this.sessionOf(who), task, priority: task.priority, ticket: null };
    const inTheWay = this.hardInTheWay(asker, this.declares(task));
    if (inTheWay.length > 0) throw this.taken(inTheWay);
  }

  /**
   * Besides these those that are before it in line, as far as nobody would wait for each other, and no hold keeps them from
   * their turn (R36).
   */
  override inTheWay(asked: Asker & { ticket?: Ticket | null }, wanted: readonly Wanted[]): (Claim | Ticket)[] {
    const asker: InLine = { ticket: null, ...asked };
    const hard = this.heldOrOffered(asker, wanted);
    // Who is in line already passes whoever is behind it; a newcomer doesn't pass those whom it waits for.
    const mine = (ticket: Ticket) => ticket.session === asker.session && this.inLine(ticket);
    const own = this.tickets.filter(mine);
    const isNewcomer = asker.ticket?.session !== asker.session;
    const before = this.others(asker, wanted).filter((ticket) => {
      if (this.offered(ticket)) return false;
      const isAwaited = this.reachHard(own, ticket.session);
      if (isNewcomer && isAwaited) return true;
      if (!this.isBefore(ticket, asker) || this.reachHard([ticket], asker.session)) return false;
      const isPassed = this.frozenInLine(ticket) && !isAwaited;
      if (isPassed) this.reached("passed one that is frozen");
      return !isPassed;
    });
    return this.places.inTheWay([...hard, ...before], wanted);
  }

  /** Whether tickets wait for a session, over whatever others hold or are offered. */
  protected reachHard(tickets: readonly Ticket[], session: Session | null): boolean {
    return session !== null && this.reach(tickets, session, (each) => this.hardInTheWay(by(each), each.wanted));
  }

  protected reach(from: readonly Ticket[], to: Session, edges: (ticket: Ticket) => { session: Session }[]): boolean {
    const seen = new Set<Session>();
    const queue = [...from];
    for (let ticket = queue.shift(); ticket; ticket = queue.shift()) {
      for (const { session } of edges(ticket)) {
        if (session === to) return true;
        if (seen.has(session)) continue;
        seen.add(session);
        queue.push(...this.tickets.filter((each) => each.session === session && this.inLine(each)));
      }
    }
    return false;
  }
}

/** Who asks by a ticket. */
export function by(ticket: Ticket): InLine {
  const { session, task, priority } = ticket;
  return { session, task, priority, ticket };
}
