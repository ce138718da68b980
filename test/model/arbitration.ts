import { Line } from "./line.js";
import type { Wanted } from "./names.js";
import { Refusal, type Who } from "./records.js";
import type { Claim } from "./scopes.js";
import { by, type Ticket } from "./tickets.js";

/** What persons decide about names: who has one in spite of the line (R40), and how many may have it at once (R32). */
export class Arbitration extends Line {
  /** Whoever has what it wants loses it. */
  overrule(who: Who, ticket: Ticket, reason: string | undefined): Ticket {
    if (reason === undefined) throw new Refusal("reason_required");
    if (ticket.ended === "granted") return ticket;
    if (!this.inLine(ticket)) throw new Refusal("lease_lost");
    this.refuseFrozen(ticket.wanted, ticket.project, ticket.session.agent);
    for (const each of this.losers(ticket)) {
      if ("wanted" in each) this.withdraw(each);
      else if (each.task) {
        if (each.task.live) this.forceRelease(who, each.task, reason);
      } else this.lose(each, "revoked");
    }
    this.reached("overruled");
    this.taking(ticket);
    if (ticket.session !== this.sessionOf(who)) this.tellOf(ticket, "wait.granted");
    return ticket;
  }

  /** First who is in the way whoever else makes room; then of those with a place the newest, offers before claims. */
  private losers(ticket: Ticket): (Claim | Ticket)[] {
    const inTheWay = (all: readonly (Claim | Ticket)[]) => this.places.inTheWay(all, ticket.wanted);
    const together = (a: Claim | Ticket) => (b: Claim | Ticket) =>
      a === b || (!("wanted" in a) && !("wanted" in b) && a.task !== null && a.task === b.task);
    const all = this.heldOrOffered(by(ticket), ticket.wanted);
    const sure = all.filter((each) => inTheWay(all.filter(together(each))).length > 0);
    let left = all.filter((each) => !sure.includes(each));
    const losers = [...sure];
    for (;;) {
      const full = inTheWay(left);
      const last = full.findLast((each) => "wanted" in each) ?? full.at(-1);
      if (!last) return losers;
      this.reached("one of several made room");
      losers.push(...left.filter(together(last)));
      left = left.filter((each) => !losers.includes(each));
    }
  }

  /** So many may have the name; who has it keeps it. Offers that go beyond are taken back, the last in line first. */
  setPlaces(wanted: Wanted, number: number): { taken: number; free: number } {
    const more = number > this.places.of(wanted);
    this.places.set(wanted, number);
    if (more) this.freed.push(wanted);
    const having: (Claim | Ticket)[] = this.claims.filter((claim) => this.lives(claim));
    const taken = this.places.taken(having, wanted);
    for (const offer of this.inOrder().filter((ticket) => this.offered(ticket))) {
      const before = this.places.taken(having, wanted);
      const after = this.places.taken([...having, offer], wanted);
      if (after === before || after <= number) having.push(offer);
      else {
        this.withdraw(offer);
        this.reached("offered no more, as there are fewer places");
      }
    }
    return { taken, free: Math.max(0, number - taken) };
  }
}
