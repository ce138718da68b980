import { isSameName, type Wanted } from "./names.js";
import { Refusal, type Session, type Who } from "./records.js";
import { Reservations } from "./reservations.js";
import type { ScopedTasks } from "./scoped-tasks.js";
import type { Asked, Asker, Claim } from "./scopes.js";
import { stuckAfterAll } from "./stuck.js";
import { by, type InLine, LEVEL_MS, type Ticket } from "./tickets.js";

/** Getting into line and out of it, and who would wait for each other (R35-R37, R40). */
export class Line extends Reservations {
  // Getting into line

  /** Whether it can have its names by now. */
  mayHave(ticket: Ticket): boolean {
    const inTheWay = this.offered(ticket) ? this.heldAgainst(by(ticket), ticket.wanted) : this.inTheWayOf(ticket);
    return inTheWay.length === 0;
  }

  /** The claims, or the ticket that stands in line for them. */
  claimOrWait(who: Who, asked: Asked, refusedWith?: string): { claims: Claim[] } | { ticket: Ticket } {
    const { asker, seconds } = this.asking(who, asked);
    const ticket = this.ticketFor(asker, asked);
    const priority = asked.priority ?? ticket?.priority ?? asker.priority;
    const inLine = { ...asker, priority, ticket };
    // What it has by any mode goes on.
    const fresh = asked.wanted.filter((each) => !this.own(asker, each));
    this.refuseFrozen(fresh, asked.project);
    const missing = this.missing(asker, asked.wanted);
    const inTheWay = this.inTheWay(inLine, missing);
    if (inTheWay.length === 0) {
      if (this.others(inLine, asked.wanted).some((each) => this.isBefore(each, inLine)))
        this.reached("passed one before it");
      const claims = this.take(asker, asked, seconds, this.holderFor(who, asked));
      if (ticket) this.granted(ticket, claims);
      if (claims[0]) this.endCovered(claims[0].session);
      return { claims };
    }
    // Who is in line already is told of those who hold it.
    const held = ticket ? this.heldAgainst(asker, missing) : [];
    if (!asked.wait) throw this.taken(held.length > 0 ? held : inTheWay);
    if (ticket) this.reached("asked again");
    return { ticket: ticket ?? this.enter(who, asked, inLine, seconds, refusedWith) };
  }

  /** What else the session waits for and has all of by now, be it by several calls. */
  protected endCovered(session: Session): void {
    const held = this.claims.filter((claim) => claim.session === session && this.lives(claim));
    for (const ticket of this.tickets) {
      const own = ticket.session === session && this.inLine(ticket);
      const has = (wanted: Wanted) =>
        held.find(
          (claim) =>
            claim.task === ticket.task &&
            isSameName(claim, wanted) &&
            (claim.mode === "exclusive" || wanted.mode === "shared"),
        );
      const got = ticket.wanted.flatMap((wanted) => has(wanted) ?? []);
      if (own && got.length === ticket.wanted.length) this.granted(ticket, got);
    }
  }

  /** The one of that session for the very same. */
  private ticketFor({ session, task }: Asker, { wanted }: Asked): Ticket | null {
    const same = (each: Wanted, other: Wanted) => isSameName(each, other) && each.mode === other.mode;
    const own = this.tickets.filter(
      (ticket) => ticket.session === session && ticket.task === task && this.inLine(ticket),
    );
    const all = (ticket: Ticket) => wanted.every((each) => ticket.wanted.some((other) => same(each, other)));
    return own.find((ticket) => ticket.wanted.length === wanted.length && all(ticket)) ?? null;
  }

  private enter(who: Who, asked: Asked, inLine: InLine, seconds: number, refusedWith?: string): Ticket {
    const { wanted, project, intent } = asked;
    const { priority, session, task } = inLine;
    const place = { order: this.tickets.length, rank: this.rankFor(inLine, wanted), priority };
    const fresh = { id: null, offeredUntilMs: null, ended: null, granted: [] };
    const made = { wanted, project, intent, seconds, task, grant: task?.live ?? null, ...place, ...fresh };
    if (session) this.refuseDeadlock({ ...made, session }, refusedWith);
    const ticket = { ...made, session: this.holderFor(who, asked) };
    this.tickets.push(ticket);
    this.reached("got into line");
    this.lookAtPassers(ticket);
    return ticket;
  }

  /** Those whom it waits for now pass those who wait for it, which they could not before. */
  private lookAtPassers({ session }: Ticket): void {
    const own = this.tickets.filter((each) => each.session === session && this.inLine(each));
    for (const other of this.inOrder()) if (this.reachHard(own, other.session)) this.freed.push(...other.wanted);
  }

  /** Nobody gets before those whom it waits for already. */
  private rankFor(asker: InLine, wanted: readonly Wanted[]): number {
    const rank = this.nowMs - asker.priority * LEVEL_MS;
    const own = this.tickets.filter((ticket) => ticket.session === asker.session && this.inLine(ticket));
    const passed = this.others(asker, wanted).filter(
      (ticket) => ticket.rank > rank && this.reachHard(own, ticket.session),
    );
    return Math.max(rank, ...passed.map((ticket) => ticket.rank));
  }

  /**
   * R37: refused if with it in line it waits for ever, and others who wouldn't without it, or for its own session, as two
   * tasks' names conflict within one (R16); and never otherwise. Whose fault it is where some do already, as there are fewer
   * places by now, the rules leave open.
   */
  private refuseDeadlock(ticket: Ticket, refusedWith: string | undefined): void {
    const before = stuckAfterAll(this, []);
    const after = stuckAfterAll(this, [ticket]);
    const itself = this.inTheWayOf(ticket).some(({ session }) => session === ticket.session);
    const must = after.has(ticket) && (itself || after.size > before.size + 1);
    const may = refusedWith === "would_deadlock" && before.size > 0 && after.has(ticket);
    if (!must && !may) return;
    this.reached("would be a deadlock");
    throw new Refusal("would_deadlock");
  }

  inTheWayOf(ticket: Ticket): (Claim | Ticket)[] {
    return this.inTheWay(by(ticket), ticket.wanted);
  }

  noTicket(): Refusal {
    return new Refusal("not_found");
  }

  /** Its place in line: after those before it that want what overlaps, sharers too. */
  positionOf(ticket: Ticket): number {
    const whole = ticket.wanted.map((each) => ({ ...each, mode: "exclusive" as const }));
    return this.others(by(ticket), whole).filter((other) => this.isBefore(other, by(ticket))).length + 1;
  }

  // Leaving it

  private granted(ticket: Ticket, claims: readonly Claim[]): void {
    Object.assign(ticket, { ended: "granted", granted: claims });
    this.reached("a ticket ended: granted");
  }

  /** Whoever asks about a ticket notices whether it can have its names by now. */
  look(ticket: Ticket): Ticket {
    if (this.inLine(ticket)) this.offerIfFree(ticket);
    return ticket;
  }

  takeOffered(who: Who, ticket: Ticket): Ticket {
    if (ticket.session !== this.sessionOf(who)) throw new Refusal("forbidden");
    this.look(ticket);
    // What it has of it already goes on (R5).
    const missing = this.missing(by(ticket), ticket.wanted);
    if (this.offered(ticket) && this.heldAgainst(by(ticket), missing).length === 0) this.taking(ticket);
    return ticket;
  }

  protected taking(ticket: Ticket): void {
    const { session, seconds } = ticket;
    this.granted(ticket, this.take(by(ticket), ticket as Asked, seconds, session));
    this.endCovered(session);
  }

  leaveLine(who: Who, ticket: Ticket): Ticket {
    if (ticket.session.agent !== who.agent) this.role(who, "coordinator");
    if (this.inLine(ticket)) {
      ticket.ended = "cancelled";
      if (ticket.session !== this.sessionOf(who)) this.tellOf(ticket, "wait.ended");
      this.reached("a ticket ended: cancelled");
    }
    return ticket;
  }

  override endSession(who: Who, session: Session): ReturnType<ScopedTasks["endSession"]> {
    const waiting = this.tickets.filter((ticket) => this.inLine(ticket));
    const ended = super.endSession(who, session);
    for (const ticket of waiting) if (ticket.session.state !== "open") ticket.ended = "session_ended";
    return ended;
  }
}
