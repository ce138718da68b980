import { Holding } from "./holding.js";
import { type Agent, Refusal, type Session, type Task, type Who } from "./records.js";

/** What is said when a session is opened, or resumed. */
export interface Opening {
  readonly ttlSeconds: number;
  readonly parent?: Session;
  readonly harness?: string;
  /** The session whose token is given: its newest, or one that was used. */
  readonly resumes?: { readonly session: Session; readonly used: boolean };
}

const DEPTH_MAX = 8;

/** Sessions: how they come, go on under another name, and go, each with all under it (R9, R10, R65). */
export class Families extends Holding {
  /** The session, and whether it was there already. */
  openSession(agent: Agent, said: Opening): { session: Session; resumed: boolean } {
    const { parent } = said;
    if (parent && parent.state !== "open") throw new Refusal("session_ended");
    if (parent && above(parent).length >= DEPTH_MAX) throw new Refusal("invalid_input");
    const there = this.meant(agent, said);
    if (said.harness && there) there.harness = said.harness;
    if (there) {
      this.carry(there, this.nowMs + (there.ttlMs ?? 0));
      return { session: there, resumed: true };
    }
    const session = this.newSession(agent, said.ttlSeconds * 1000, parent ?? null);
    session.harness = said.harness ?? null;
    this.carry(session, session.endsAtMs);
    return { session, resumed: false };
  }

  protected meant(agent: Agent, { parent, harness, resumes }: Opening): Session | undefined {
    const named = (under: Session | null) =>
      this.sessions.find(
        (each) => each.agent === agent && each.state === "open" && each.harness === harness && each.parent === under,
      );
    if (!resumes) return harness === undefined ? undefined : named(parent ?? null);
    const { session, used } = resumes;
    if (used) throw new Refusal("resume_token_used");
    if (session.state !== "open") throw new Refusal("session_ended");
    if (parent && parent !== session.parent) throw new Refusal("invalid_input");
    const other = harness === undefined ? undefined : named(session.parent);
    if (other && other !== session) throw new Refusal("already_exists");
    return session;
  }

  /** A sign of life that lets a session live until then is one of all above it, each by its own length. */
  carry(session: Session, endsAtMs: number): void {
    const signMs = endsAtMs - (session.ttlMs ?? 0);
    let belowMs = endsAtMs;
    for (const each of [session, ...above(session)]) {
      if (each.ttlMs !== null) belowMs = Math.max(belowMs, each === session ? endsAtMs : signMs + each.ttlMs);
      each.endsAtMs = Math.max(each.endsAtMs, belowMs);
    }
  }

  /** What it holds, renewed. */
  heartbeatSession(session: Session): Task[] {
    if (session.state !== "open") throw new Refusal("session_ended");
    const renewed = this.tasks.filter((task) => task.live?.session === session);
    for (const { live } of renewed) if (live) this.renewFor(live, live.seconds);
    return renewed;
  }

  /** R10, R20, R65: frees everything at once, its children's too, and none of it counts. */
  endSession(who: Who, session: Session): { released: number; children: number } {
    if (session.state !== "open") return { released: 0, children: 0 };
    const ending = this.sessions.filter(
      (each) => each.state === "open" && (each === session || above(each).includes(session)),
    );
    const held = this.tasks.filter((task) => task.live && ending.includes(task.live.session));
    for (const task of held) {
      this.endLease(task, "released", false, who.agent);
      task.changes += 1;
    }
    for (const each of ending) each.state = "ended";
    if (session.agent.implicit === session) session.agent.implicit = null;
    return { released: held.length, children: ending.length - 1 };
  }
}

/** The parents of a session, nearest first. */
export function above(session: Session): Session[] {
  return session.parent ? [session.parent, ...above(session.parent)] : [];
}

/** What an opening speaks of, chosen when the call is made. */
export interface Family {
  readonly parent: Session | undefined;
  readonly resumes: Session | undefined;
  readonly token: string | undefined;
}

/** The sessions of the agent that an opening speaks of. */
export function familyOf(
  sessions: readonly Session[],
  who: Who,
  args: { readonly parent?: number; readonly resume?: number; readonly used?: true },
): Family {
  const own = sessions.filter(({ agent, id, tokens }) => agent === who.agent && id && tokens.length > 0);
  const at = (n: number | undefined) => (n === undefined ? undefined : own[n % Math.max(1, own.length)]);
  const resumes = at(args.resume);
  const token = resumes?.tokens.at(args.used && resumes.tokens.length > 1 ? -2 : -1);
  return { parent: at(args.parent), resumes, token };
}

/**
 * Of calls of one instant those that touch different families, or one session: ends are read behind all of them, and one
 * call would have moved what another was still to show.
 */
export function apart<C extends { readonly who: Who; readonly family: Family }>(calls: readonly C[]): C[] {
  const seen = new Map<Session, Session | null>();
  return calls.filter(({ who, family }) => {
    const named = [who.session, family.parent, family.resumes].filter((each) => each != null);
    const roots = new Set(named.map((each) => above(each).at(-1) ?? each));
    const alone = new Set(named).size < 2 && !family.parent ? (who.session ?? null) : null;
    const fits = [...roots].every((root) => !seen.has(root) || (alone !== null && seen.get(root) === alone));
    if (fits) for (const root of roots) seen.set(root, alone);
    return fits;
  });
}
