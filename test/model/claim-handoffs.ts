import { Arbitration } from "./arbitration.js";
import { HOPS_MAX, type Offer, type Said } from "./handoffs.js";
import { collide, isSameName, type Wanted } from "./names.js";
import { type Lease, Refusal, type Who } from "./records.js";
import type { Asker, Claim } from "./scopes.js";
import type { Ticket } from "./tickets.js";

/** Passing on names that a session claimed by itself (R39); a task's go with the task. */
export class ClaimHandoffs extends Arbitration {
  offerName(who: Who, claim: Claim, to: Offer["to"], said: Said): Offer {
    const mine = claim.session === this.sessionOf(who);
    if (!mine || !this.lives(claim)) throw this.notMine(claim, mine);
    if (claim.task) throw new Refusal("invalid_input");
    if (claim.hops >= HOPS_MAX) throw new Refusal("limit_exceeded");
    return this.make({ task: null, lease: claim }, to, said);
  }

  /** With whoever has that very name by now, or else what is in its way. */
  private notMine(claim: Claim, mine: boolean): Refusal {
    const living = [claim, ...this.claims].filter((each) => this.lives(each));
    const holder = living.find((each) => isSameName(each, claim)) ?? living.find((each) => collide(each, claim));
    // How a task's name ended the rules leave open.
    const reason = mine ? claim.ended : "never_held";
    return new Refusal("lease_lost", { ...(reason ? { reason } : {}), ...(holder ? { holder } : {}) });
  }

  protected override isHeld(offer: Offer): boolean {
    return offer.of.task === null ? this.lives(offer.of.lease) : super.isHeld(offer);
  }

  protected override handOver(who: Who, offer: Offer, seconds: number): Lease {
    if (offer.of.task !== null) return super.handOver(who, offer, seconds);
    const claim = offer.of.lease;
    const asker: Asker = { session: this.sessionOf(who), task: null, priority: 2 };
    this.refuseFrozen([claim], claim.project);
    this.refuseBeside(asker, [claim], (each) => each === claim);
    const own = this.own(asker, claim);
    this.lose(claim, "transferred");
    this.reached("a name was handed over");
    const hops = claim.hops + 1;
    if (!own) {
      const session = this.sessionOf(who) ?? this.openImplicit(who.agent);
      const fresh = this.grantName(claim, { ...claim, session, seconds });
      fresh.hops = hops;
      this.endCovered(session);
      return fresh;
    }
    this.reached("to one who had it already");
    Object.assign(own, { nested: own.nested + 1, hops: Math.max(own.hops, hops) });
    this.renewName(own, seconds);
    this.endCovered(own.session);
    return own;
  }

  protected override acceptedBefore(who: Who, offer: Offer): Lease {
    if (offer.of.task !== null) return super.acceptedBefore(who, offer);
    const granted = offer.granted as Claim;
    if (this.lives(granted)) return granted;
    throw new Refusal("lease_lost", granted.ended ? { reason: granted.ended } : {});
  }

  protected override holderOf(offer: Offer): Lease | null {
    if (offer.of.task !== null) return super.holderOf(offer);
    const all = [offer.granted as Claim | null, offer.of.lease];
    return all.find((each) => each !== null && this.lives(each)) ?? null;
  }

  /** What others hold or are offered, the giver counted, is in the receiver's way. */
  protected refuseBeside(asker: Asker, wanted: readonly Wanted[], passed: (each: Claim | Ticket) => boolean): void {
    const others = this.heldOrOffered({ ...asker, ticket: null }, wanted).filter((each) => !passed(each));
    const inTheWay = this.places.inTheWay(others, wanted);
    if (inTheWay.length > 0) throw this.taken(inTheWay);
  }

  protected override mayPassOn(who: Who, task: NonNullable<Asker["task"]>): void {
    const held = this.claims.filter((claim) => claim.task === task && this.lives(claim));
    const asker = { session: this.sessionOf(who), task, priority: task.priority };
    this.refuseFrozen(held, task.project);
    this.refuseBeside(asker, held, (each) => "wanted" in each && each.task === task);
    this.reached(held.length > 0 ? "a task was handed over with its names" : "a task was handed over");
  }
}
