import { Families } from "./families.js";
import {
  type Agent,
  type Grant,
  type Lease,
  type Notice,
  type Proof,
  Refusal,
  type Session,
  type Task,
  type Who,
} from "./records.js";
import type { Claim } from "./scopes.js";

/** An offer of one lease to somebody else. */
export interface Offer {
  id: string | null;
  /** What is offered: a task, or a name that a session claimed by itself. */
  readonly of: { readonly task: Task; readonly lease: Grant } | { readonly task: null; readonly lease: Claim };
  readonly to: { readonly agent: Agent; readonly session: Session | null };
  readonly note: string | undefined;
  readonly untilMs: number;
  state: "offered" | "accepted" | "declined" | "withdrawn" | "replaced" | "expired";
  by: Session | null;
  granted: Lease | null;
}

/** What an offer says. */
export interface Said {
  readonly note?: string;
  readonly seconds?: number;
}

export const HOPS_MAX = 3;

/** Passing a task on (R39). */
export class Handoffs extends Families {
  readonly offers: Offer[] = [];

  /** As long as its time runs, the lease is the one that was offered, and the receiver is there. */
  stands(offer: Offer): boolean {
    const { state, untilMs, to } = offer;
    const there = to.session === null || to.session.state === "open";
    return state === "offered" && this.nowMs < untilMs && this.isHeld(offer) && there;
  }

  protected isHeld({ of: { task, lease } }: Offer): boolean {
    return task !== null && task.live === lease && task.cancelAsked === null;
  }

  override instants(): number[] {
    const ends = this.offers.filter((offer) => this.stands(offer)).map(({ untilMs }) => untilMs);
    return [...new Set([...super.instants(), ...ends])].sort((a, b) => a - b);
  }

  offer(who: Who, target: Task, proof: Proof, to: Offer["to"], said: Said): Offer {
    const task = this.existing(target);
    const lease = this.heldBy(who, task, proof);
    if (task.cancelAsked) throw new Refusal("invalid_input");
    if (task.hops >= HOPS_MAX) throw new Refusal("limit_exceeded");
    return this.make({ task, lease }, to, said);
  }

  protected make(of: Offer["of"], to: Offer["to"], { note, seconds }: Said): Offer {
    if (to.session === of.lease.session) throw new Refusal("invalid_input");
    if (to.session && to.session.state !== "open") throw new Refusal("session_ended");
    // One that its receiver's end has ended is told of to nobody, now that its giver offers it anew.
    for (const other of this.offers)
      if (other.state === "offered" && other.of.lease === of.lease)
        other.state = this.stands(other) ? "replaced" : "expired";
    const untilMs = this.nowMs + (seconds ?? 300) * 1000;
    const offer: Offer = { id: null, of, to, note, untilMs, state: "offered", by: null, granted: null };
    this.offers.push(offer);
    const others = this.sessions.filter((each) => each.agent === to.agent && each !== of.lease.session);
    for (const each of to.session ? [to.session] : others) if (each.state === "open") this.tellOffered(each, offer);
    return offer;
  }

  private tellOffered(session: Session, offer: Offer): void {
    const isOver = () => offer.state !== "offered" || this.nowMs >= offer.untilMs;
    this.tell(session, { type: "handoff.offered", ...this.aboutOffer(offer), isOver });
  }

  private aboutOffer(offer: Offer): Pick<Notice, "task" | "about"> {
    return { task: offer.of.task, about: () => ({ handoff_id: offer.id }) };
  }

  /** What is offered to an agent is offered to a session of it that comes later, too. */
  protected override newSession(...what: Parameters<Families["newSession"]>): Session {
    const session = super.newSession(...what);
    for (const offer of this.offers)
      if (this.stands(offer) && !offer.to.session && offer.to.agent === session.agent) this.tellOffered(session, offer);
    return session;
  }

  /** Whoever holds still what nobody took in time is told. */
  protected expireOffers(): void {
    for (const offer of this.offers) {
      if (offer.state !== "offered" || this.nowMs < offer.untilMs) continue;
      offer.state = "expired";
      if (this.isHeld(offer)) this.tell(offer.of.lease.session, { type: "handoff.expired", ...this.aboutOffer(offer) });
    }
  }

  /** Exactly once, and nobody has it in between. */
  accept(who: Who, offer: Offer, seconds?: number): Lease {
    this.mayAnswer(who, offer, false);
    if (offer.state === "accepted" && offer.by === this.sessionOf(who)) return this.acceptedBefore(who, offer);
    this.inTime(offer);
    const length = this.secondsOf(seconds, offer.of.lease.seconds);
    const granted = this.handOver(who, offer, length);
    Object.assign(offer, { state: "accepted", by: granted.session, granted });
    return granted;
  }

  /** Of a task the attempt goes on. */
  protected handOver(who: Who, { of, note }: Offer, seconds: number): Lease {
    if (of.task === null) throw new Error("Names are handed over elsewhere.");
    const { task, lease } = of;
    if (this.isFrozen(task)) throw new Refusal("frozen");
    this.mayPassOn(who, task);
    lease.ended = "transferred";
    this.tellLost(task, lease);
    const { attempts, hops } = task;
    this.passOn(who, task, seconds, lease);
    Object.assign(task, { attempts, hops: hops + 1 });
    if (note !== undefined) task.handoff = note;
    return task.live as Grant;
  }

  /** Whether nobody else holds what the task does. */
  protected mayPassOn(_who: Who, _task: Task): void {}

  protected passOn(who: Who, task: Task, seconds: number, _before: Grant): void {
    this.grantTo(who, task, seconds);
  }

  protected acceptedBefore(who: Who, { of: { task }, granted }: Offer): Lease {
    if (task === null) throw new Error("Names are handed over elsewhere.");
    if (task.deleted) throw new Refusal("lease_lost", { reason: "expired" });
    if (task.live && task.live === granted) return granted;
    throw this.lostBy(who, task, { lease_id: granted?.id ?? "" }).refusal;
  }

  decline(who: Who, offer: Offer, reason: string | null = null): Offer {
    this.mayAnswer(who, offer, true);
    const state = this.gave(who, offer) ? "withdrawn" : "declined";
    if (offer.state === state) return offer;
    this.inTime(offer);
    offer.state = state;
    const { task, about } = this.aboutOffer(offer);
    if (state === "declined")
      this.tell(offer.of.lease.session, { type: "handoff.declined", task, about: () => ({ ...about(), reason }) });
    return offer;
  }

  private gave(who: Who, { of: { lease } }: Offer): boolean {
    return this.sessionOf(who) === lease.session;
  }

  private mayAnswer(who: Who, offer: Offer, giver: boolean): void {
    const { to } = offer;
    const named = to.session === null ? to.agent === who.agent : to.session === this.sessionOf(who);
    if (!(this.gave(who, offer) ? giver : named)) throw new Refusal("forbidden");
  }

  private inTime(offer: Offer): void {
    if (this.stands(offer)) return;
    const holder = this.holderOf(offer);
    throw new Refusal("handoff_taken", holder ? { holder } : {});
  }

  /** Who has by now what was offered. */
  protected holderOf({ of: { task } }: Offer): Lease | null {
    return task?.live ?? null;
  }
}
