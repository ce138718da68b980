import { collide, isSameName, type Mode, type Name, overlap, type Wanted } from "./names.js";
import { lostItem } from "./narrowed.js";
import { Places } from "./places.js";
import { type Grant, Refusal, type Session, type Task, type Who } from "./records.js";
import { Rules } from "./rules.js";
import { leaseEndMs } from "./standing.js";

/** A lease on a name: one of its own, or one that lives by a task's (R16). */
export interface Claim extends Wanted {
  id: string | null;
  fence: number | null;
  /** Until it became its session's alone. */
  fenceBefore: number;
  mode: Mode;
  readonly project: string;
  readonly session: Session;
  readonly task: Task | null;
  readonly grant: Grant | null;
  readonly atMs: number;
  intent: string;
  nested: number;
  /** How often it changed hands since it was claimed, or its holder said anew what for (R39). */
  hops: number;
  seconds: number;
  untilMs: number;
  ended: "released" | "revoked" | "expired" | "transferred" | null;
  narrowedAtMs?: number;
}

/** For whom something is asked, and how urgent it is in line. */
export interface Asker {
  readonly session: Session | null;
  readonly task: Task | null;
  readonly priority: number;
}

/** What a claim of names says besides. */
export interface Asked {
  readonly wanted: readonly Wanted[];
  readonly project: string;
  readonly intent: string;
  readonly seconds?: number;
  readonly task?: Task;
  readonly priority?: number;
  /** To get into line where it isn't free (R35). */
  readonly wait?: true;
}

/** Which claims of the session are meant: all it claimed by itself, or some by name, or any by id. */
export interface Chosen {
  readonly all?: true;
  readonly wanted?: readonly Wanted[];
  readonly claims?: readonly Claim[];
  /** Only what is of it. */
  readonly project?: string | undefined;
}

/** What became of one of them. */
export interface Item {
  readonly claim: Claim | null;
  readonly name: Name | null;
  readonly outcome: "renewed" | "released" | "kept" | "lost";
  /** Null where the rules don't say. */
  readonly reason: string | null;
}

/** How often the plays came to what they are to show. */
export type Tally = Map<string, number>;

/** Leases on names (R29-R33), beside those on tasks. What a claim lives by is asked whenever it matters (R1). */
export class Scopes extends Rules {
  readonly claims: Claim[] = [];
  readonly places = new Places();
  tally: Tally = new Map();

  reached(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  // The clock

  endOf(claim: Claim): number {
    return leaseEndMs(claim);
  }

  lives(claim: Claim): boolean {
    if (claim.ended !== null || claim.session.state !== "open") return false;
    return (claim.grant?.ended ?? null) === null && this.nowMs < this.endOf(claim);
  }

  override settle(nowMs: number): void {
    const living = this.claims.filter((claim) => this.lives(claim));
    super.settle(nowMs);
    for (const claim of living) {
      if (this.lives(claim) || claim.grant) continue;
      this.lose(claim, "expired");
      this.reached("a claim lapsed");
    }
  }

  /** Its session is told (R54). */
  protected lose(claim: Claim, how: "expired" | "revoked" | "transferred"): void {
    claim.ended = how;
    const about = () => ({ reason: how, claim_id: claim.id, scope: claim.name.text, fence: claim.fence });
    this.tell(claim.session, { type: "lease.lost", task: null, name: claim, about });
  }

  override instants(): number[] {
    const ends = this.claims.filter((claim) => this.lives(claim)).map((claim) => this.endOf(claim));
    const all = [...super.instants(), ...ends].filter((at) => at > this.nowMs && at < Infinity);
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** R41: whether nobody gets one of these names anew in that project. */
  protected frozenNames(wanted: readonly Wanted[], project: string, agent = this.caller): boolean {
    const holds = this.freezesFor(agent);
    return wanted.some((each) =>
      holds.some(({ on, ...hold }) => (on ? overlap({ ...on, mode: "exclusive" }, each) : hold.project === project)),
    );
  }

  protected refuseFrozen(wanted: readonly Wanted[], project: string, agent = this.caller): void {
    if (this.frozenNames(wanted, project, null) && !this.frozenNames(wanted, project, agent))
      this.reached("let pass by a hold");
    if (!this.frozenNames(wanted, project, agent)) return;
    this.reached("frozen");
    throw new Refusal("frozen");
  }

  // Who is in the way

  /** Claims of others that collide (R32): a session's own don't, but where both are of tasks, and of different ones (R16). */
  protected colliding({ session, task }: Asker, wanted: readonly Wanted[]): Claim[] {
    return this.claims.filter((claim) => {
      if (!this.lives(claim) || !wanted.some((each) => collide(claim, each))) return false;
      if (task && claim.task === task) return false;
      return claim.session !== session || (claim.task !== null && task !== null);
    });
  }

  /** Those of them that keep the asker from the names. */
  heldAgainst(asker: Asker, wanted: readonly Wanted[]): Claim[] {
    return this.places.inTheWay(this.colliding(asker, wanted), wanted);
  }

  /** Everybody who does. */
  inTheWay(asker: Asker, wanted: readonly Wanted[]): { id: string | null }[] {
    return this.heldAgainst(asker, wanted);
  }

  // Claiming

  claimScopes(who: Who, asked: Asked): Claim[] {
    const { asker, seconds } = this.asking(who, asked);
    const inTheWay = this.inTheWay(asker, this.missing(asker, asked.wanted));
    if (inTheWay.length > 0) throw this.taken(inTheWay);
    return this.take(asker, asked, seconds, this.holderFor(who, asked));
  }

  /** Names for a task are its holder's. */
  protected holderFor(who: Who, { task }: Asked): Session {
    return task?.live?.session ?? this.sessionOf(who) ?? this.openImplicit(who.agent);
  }

  protected asking(who: Who, asked: Asked): { asker: Asker; seconds: number } {
    const seconds = this.secondsOf(asked.seconds);
    if (asked.task && !this.holds(who, this.existing(asked.task))) throw this.lostBy(who, asked.task, {}).refusal;
    return {
      asker: { session: this.sessionOf(who), task: asked.task ?? null, priority: asked.priority ?? 2 },
      seconds,
    };
  }

  protected taken(inTheWay: readonly { id: string | null }[]): Refusal {
    this.reached("refused for others");
    return new Refusal("scope_conflict", { inTheWay: [...new Set(inTheWay)] });
  }

  /** The asker's own claim under that very name (R33). */
  protected own({ session, task }: Asker, wanted: Wanted): Claim | undefined {
    return this.claims.find(
      (claim) => this.lives(claim) && claim.session === session && claim.task === task && isSameName(claim, wanted),
    );
  }

  /** What of the names isn't the asker's already in that mode: the rest is a renewal (R5). */
  protected missing(asker: Asker, wanted: readonly Wanted[]): Wanted[] {
    return wanted.filter((each) => {
      const own = this.own(asker, each);
      return !own || (own.mode === "shared" && each.mode === "exclusive");
    });
  }

  /** All of it: what is there is renewed and counts once more, what was shared is the asker's alone if it asks for that. */
  protected take(asker: Asker, { wanted, project, intent }: Asked, seconds: number, session: Session): Claim[] {
    const { task } = asker;
    return wanted.map((each) => {
      const own = this.own(asker, each);
      if (!own) return this.grantName(each, { project, intent, session, task, seconds });
      this.reached(own.mode === "shared" && each.mode === "exclusive" ? "upgraded" : "claimed once more");
      if (own.mode === "shared" && each.mode === "exclusive") this.upgrade(own);
      Object.assign(own, { nested: own.nested + 1, intent });
      if (!own.grant) this.renewName(own, seconds);
      return own;
    });
  }

  /** Alone with it, it is above all that shared it before (R4). */
  protected upgrade(own: Claim): void {
    Object.assign(own, { mode: "exclusive", fence: null, fenceBefore: own.fence });
  }

  protected grantName(
    { name, mode, space }: Wanted,
    by: { project: string; intent: string; session: Session; task: Task | null; seconds: number },
  ): Claim {
    const lease = { grant: by.task?.live ?? null, atMs: this.nowMs, untilMs: this.nowMs + by.seconds * 1000 };
    const fresh = { id: null, fence: null, fenceBefore: 0, nested: 1, hops: 0, ended: null } as const;
    const claim: Claim = { ...by, name, mode, space, ...lease, ...fresh };
    this.claims.push(claim);
    return claim;
  }

  protected renewName(claim: Claim, seconds: number): void {
    claim.seconds = seconds;
    claim.untilMs = Math.max(claim.untilMs, this.nowMs + seconds * 1000);
  }

  // Keeping and giving back

  heartbeatScopes(who: Who, chosen: Chosen, { seconds, intent }: { seconds?: number; intent?: string }): Item[] {
    if (seconds !== undefined) this.secondsOf(seconds);
    return this.chosen(who, chosen).map((item) => {
      const { claim } = item;
      if (item.outcome === "lost" || !claim) return item;
      if (claim.grant) return { ...item, outcome: "kept" };
      this.renewName(claim, seconds ?? claim.seconds);
      if (intent !== undefined) Object.assign(claim, { intent, hops: 0 });
      return { ...item, outcome: "renewed" };
    });
  }

  releaseScopes(who: Who, chosen: Chosen): Item[] {
    return this.chosen(who, chosen).map((item) => {
      const { claim } = item;
      if (item.outcome === "lost" || !claim) return item;
      if (claim.grant) return { ...item, outcome: "kept" };
      if (claim.nested > 1 && !chosen.all) {
        claim.nested -= 1;
        this.reached("released once of several times");
        return { ...item, outcome: "kept" };
      }
      claim.ended = "released";
      return { ...item, outcome: "released" };
    });
  }

  /** `renewed` stands for those that live. */
  private chosen(who: Who, { all, wanted, claims, project }: Chosen): Item[] {
    const session = this.sessionOf(who);
    const living = this.claims.filter((claim) => claim.session === session && !claim.task && this.lives(claim));
    const held = (claim: Claim): Item => ({ claim, name: claim.name, outcome: "renewed", reason: null });
    const isMeant = (claim: Claim) => project === undefined || claim.project === project;
    if (all) return living.filter(isMeant).map(held);
    if (wanted) {
      return wanted.map((each) => {
        const named = (claim: Claim) => claim.session === session && this.lives(claim) && isSameName(claim, each);
        const own = living.find(named) ?? this.claims.find(named);
        if (own) return held(own);
        const last = this.claims.findLast(
          (claim) => claim.session === session && isSameName(claim, each) && !this.lives(claim),
        );
        if (last) return lostItem(last, this.nowMs);
        return { claim: null, name: each.name, outcome: "lost", reason: "never_held" };
      });
    }
    return [...new Set(claims)].map((claim) => {
      if (claim.session !== session || !isMeant(claim))
        return { claim, name: null, outcome: "lost", reason: "never_held" };
      return this.lives(claim) ? held(claim) : lostItem(claim, this.nowMs);
    });
  }

  /** A session's heartbeat renews what it claimed by itself, too (R9). */
  beatNames(session: Session): Claim[] {
    const own = this.claims.filter((claim) => claim.session === session && !claim.task && this.lives(claim));
    for (const claim of own) this.renewName(claim, claim.seconds);
    return own;
  }

  override endSession(who: Who, session: Session): { released: number; children: number; names: number } {
    const living = this.claims.filter((claim) => !claim.task && this.lives(claim));
    const ended = super.endSession(who, session);
    const freed = living.filter((claim) => !this.lives(claim));
    for (const claim of freed) claim.ended = "released";
    return { ...ended, names: freed.length };
  }
}
