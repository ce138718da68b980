import { Families } from "./families.js";
import { type Agent, type Grant, type Proof, Refusal, type Session, type Task, type Who } from "./records.js";

/** An offer of one grant to somebody else. */
export interface Offer {
  id: string | null;
  readonly task: Task;
  readonly grant: Grant;
  readonly to: { readonly agent: Agent; readonly session: Session | null };
  readonly note: string | undefined;
  readonly untilMs: number;
  state: "offered" | "accepted" | "declined" | "withdrawn" | "replaced";
  by: Session | null;
  granted: Grant | null;
}

const HOPS_MAX = 3;

/** Passing a task on (R39). */
export class Handoffs extends Families {
  readonly offers: Offer[] = [];

  /** As long as its time runs, the lease is the one that was offered, and the receiver is there. */
  stands({ state, untilMs, task, grant, to }: Offer): boolean {
    const there = to.session === null || to.session.state === "open";
    return state === "offered" && this.nowMs < untilMs && task.live === grant && task.cancelAsked === null && there;
  }

  override instants(): number[] {
    const ends = this.offers.filter((offer) => this.stands(offer)).map(({ untilMs }) => untilMs);
    return [...new Set([...super.instants(), ...ends])].sort((a, b) => a - b);
  }

  offer(who: Who, target: Task, proof: Proof, to: Offer["to"], said: { note?: string; seconds?: number }): Offer {
    const task = this.existing(target);
    const grant = this.heldBy(who, task, proof);
    if (task.cancelAsked) throw new Refusal("invalid_input");
    if (task.hops >= HOPS_MAX) throw new Refusal("limit_exceeded");
    if (to.session === grant.session) throw new Refusal("invalid_input");
    if (to.session && to.session.state !== "open") throw new Refusal("session_ended");
    for (const other of this.offers) if (this.stands(other) && other.grant === grant) other.state = "replaced";
    const untilMs = this.nowMs + (said.seconds ?? 300) * 1000;
    const { note } = said;
    const offer: Offer = { id: null, task, grant, to, note, untilMs, state: "offered", by: null, granted: null };
    this.offers.push(offer);
    return offer;
  }

  /** Exactly once, and nobody has the task in between: the attempt goes on. */
  accept(who: Who, offer: Offer, seconds?: number): Task {
    const { task, grant } = offer;
    this.mayAnswer(who, offer, false);
    if (offer.state === "accepted" && offer.by === this.sessionOf(who)) return this.acceptedBefore(who, offer);
    this.inTime(offer);
    const length = this.secondsOf(seconds, grant.seconds);
    if (this.isFrozen(task)) throw new Refusal("frozen");
    grant.ended = "transferred";
    grant.session.lost.push({ grant, task, reason: "transferred" });
    const { attempts, hops } = task;
    this.grantTo(who, task, length);
    Object.assign(task, { attempts, hops: hops + 1 });
    if (offer.note !== undefined) task.handoff = offer.note;
    Object.assign(offer, { state: "accepted", by: task.live?.session, granted: task.live });
    return task;
  }

  private acceptedBefore(who: Who, { task, granted }: Offer): Task {
    if (task.deleted) throw new Refusal("lease_lost", { reason: "expired" });
    if (task.live === granted) return task;
    throw this.lostBy(who, task, { lease_id: granted?.id ?? "" }).refusal;
  }

  decline(who: Who, offer: Offer): Offer {
    this.mayAnswer(who, offer, true);
    const state = this.gave(who, offer) ? "withdrawn" : "declined";
    if (offer.state === state) return offer;
    this.inTime(offer);
    offer.state = state;
    return offer;
  }

  private gave(who: Who, { grant }: Offer): boolean {
    return this.sessionOf(who) === grant.session;
  }

  private mayAnswer(who: Who, offer: Offer, giver: boolean): void {
    const { to } = offer;
    const named = to.session === null ? to.agent === who.agent : to.session === this.sessionOf(who);
    if (!(this.gave(who, offer) ? giver : named)) throw new Refusal("forbidden");
  }

  private inTime(offer: Offer): void {
    if (this.stands(offer)) return;
    const holder = offer.task.live;
    throw new Refusal("handoff_taken", holder ? { holder } : {});
  }
}
