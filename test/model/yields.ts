import { ClaimHandoffs } from "./claim-handoffs.js";
import { once, type Wanted } from "./names.js";
import { Refusal, type Session, type Who } from "./records.js";
import type { Claim } from "./scopes.js";

/** A waiter asks a holder to let go (R38). */
export interface Asking {
  id: string | null;
  readonly claim: Claim;
  readonly by: Session;
  readonly reason: string;
  answer: Answer["answer"] | null;
  answerReason: string | null;
}

export interface Answer {
  readonly answer: "yield" | "hold" | "narrow";
  readonly reason?: string;
  /** What the holder keeps of it. */
  readonly keeps?: readonly Wanted[];
  readonly handoff?: string;
}

/** Asking and answering. Silence means hold, and needs no rule. */
export class Yields extends ClaimHandoffs {
  readonly askings: Asking[] = [];

  isOpen({ answer, claim }: Asking): boolean {
    return answer === null && this.lives(claim);
  }

  /** Asked again before there is an answer it is the same. */
  askToYield(who: Who, claim: Claim, reason: string | undefined): { asking: Asking; again: boolean } {
    if (reason === undefined) throw new Refusal("reason_required");
    if (!this.lives(claim)) throw this.heldNoMore(claim);
    if (claim.session === this.sessionOf(who)) throw new Refusal("invalid_input");
    const by = this.sessionOf(who) ?? this.openImplicit(who.agent);
    const before = this.askings.find((each) => each.claim === claim && each.by === by && each.answer === null);
    if (before) return { asking: before, again: true };
    const asking: Asking = { id: null, claim, by, reason, answer: null, answerReason: null };
    this.askings.push(asking);
    const about = () => ({ yield_id: asking.id, claim_id: claim.id, reason });
    this.tell(claim.session, { type: "yield.requested", task: claim.task, about });
    this.reached("asked to yield");
    return { asking, again: false };
  }

  private heldNoMore({ ended }: Claim): Refusal {
    // How a task's name ended the rules leave open.
    return new Refusal("lease_lost", ended ? { reason: ended } : {});
  }

  /** The session that holds it answers, for as long as it does; said once more it is the same answer. */
  answerYield(who: Who, asking: Asking, said: Answer): Asking {
    const { claim } = asking;
    if (claim.session !== this.sessionOf(who)) throw new Refusal("lease_lost", { reason: "never_held" });
    if (!this.lives(claim)) {
      if (asking.answer === said.answer) return asking;
      throw this.heldNoMore(claim);
    }
    if (said.answer === "hold" && said.reason === undefined) throw new Refusal("reason_required");
    // Said once more it is no news.
    if (said.answer === "hold" && asking.answer === "hold" && asking.answerReason === said.reason) return asking;
    const others = this.askings.filter((each) => each !== asking && each.claim === claim && this.isOpen(each));
    if (said.answer === "narrow") this.narrow(claim, said.keeps);
    else if (said.keeps) throw new Refusal("invalid_input");
    if (said.answer === "yield") this.letGo(who, claim, said.handoff);
    // What is let go of is let go of for all who asked.
    for (const each of said.answer === "hold" ? [asking] : [asking, ...others]) this.answered(each, said);
    this.reached(`answered: ${said.answer}${claim.task ? ", of a task" : ""}`);
    return asking;
  }

  private answered(asking: Asking, { answer, reason }: Answer): void {
    Object.assign(asking, { answer, answerReason: reason ?? null });
    const { claim, by } = asking;
    const about = () => ({ yield_id: asking.id, claim_id: claim.id, answer });
    this.tell(by, { type: "yield.answered", task: claim.task, about });
  }

  /** A task's names are let go of with the task. */
  private letGo(who: Who, claim: Claim, handoff: string | undefined): void {
    if (claim.task) this.release(who, claim.task, {}, handoff);
    else claim.ended = "released";
  }

  /** It keeps smaller names, in the same mode and for the same, as one who made it smaller and not as one who claims anew. */
  private narrow(claim: Claim, keeps: readonly Wanted[] | undefined): void {
    if (!keeps?.every((each) => isPartOf(each, claim))) throw new Refusal("invalid_input");
    const wanted = once(keeps.map((keep) => ({ ...keep, mode: claim.mode })));
    const asker = { session: claim.session, task: claim.task, priority: 2 };
    this.refuseBeside(asker, wanted, (each) => each === claim);
    Object.assign(claim, { ended: "released", narrowedAtMs: this.nowMs });
    for (const each of wanted) {
      const own = this.own(asker, each);
      const { seconds, intent } = claim;
      if (own) {
        if (claim.mode === "exclusive" && own.mode === "shared") this.upgrade(own);
        Object.assign(own, { nested: own.nested + claim.nested, intent, hops: Math.max(own.hops, claim.hops) });
        if (!own.grant) this.renewName(own, seconds);
      } else Object.assign(this.grantName(each, claim), { hops: claim.hops, nested: claim.nested });
    }
  }
}

/** Of a pattern a literal is a part where it matches it in full, as a file of a `*.ts`; what lies under it may be another's. */
function isPartOf({ name, space }: Wanted, whole: Wanted): boolean {
  if (space !== whole.space || name.kind !== whole.name.kind || name === whole.name) return false;
  const own = name.text.slice(name.kind.length + 1);
  if (whole.name.text.includes("*") && !own.includes("*")) return whole.name.covers.includes(own);
  return name.covers.every((each) => whole.name.covers.includes(each));
}
