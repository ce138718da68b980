import type { Offer } from "./handoffs.js";
import type { Session, Who } from "./records.js";
import { snapshot } from "./shown.js";
import { type CallKind, given, holding, type Subject } from "./subjects.js";

/** Whom an offer is for: an agent, or one of the sessions there are. */
function receiver({ scene, args }: Subject): Offer["to"] {
  const known = scene.rules.sessions.filter(({ id }) => id !== null);
  const session = args.parent === undefined ? undefined : known[args.parent % Math.max(1, known.length)];
  if (session) return { agent: session.agent, session };
  const agent = scene.agents[(args.assign ?? 0) % scene.agents.length] as Offer["to"]["agent"];
  return { agent, session: null };
}

/** The offer that is answered; the newest are answered most. */
function offerOf({ scene, args }: Subject): Offer | undefined {
  const known = scene.rules.offers.filter(({ id }) => id !== null);
  return known.at(-1 - ((args.resume ?? 0) % Math.max(1, known.length)));
}

const as = (session: Session): Who => ({ agent: session.agent, session: session.ttlMs === null ? null : session });
const answering = {
  sense: (subject: Subject) => offerOf(subject) !== undefined,
  /** Mostly by those whom it is for. */
  aims(subject: Subject) {
    const offer = offerOf(subject) as Offer;
    const { to } = offer;
    if (!subject.args.flag) return { offer };
    if (to.session) return { offer, who: as(to.session) };
    return { offer, ...(to.agent === subject.who.agent ? {} : { who: { agent: to.agent, session: null } }) };
  },
} as const;
const answered = (subject: Subject) => subject.offer as Offer;

export const HANDOFF_CALLS = {
  offer: {
    name: "handoff_task",
    // Mostly by who holds it, under the lease it has.
    aims(subject) {
      const { scene, args, task } = subject;
      const to = receiver(subject);
      const held = scene.rules.tasks.filter(({ id, live }) => id !== null && live?.id);
      const chosen = held[task.order % Math.max(1, held.length)];
      if (!args.flag || !chosen?.live) return { to };
      return { to, task: chosen, who: as(chosen.live.session), proof: {} };
    },
    input: (s) => {
      const { agent, session } = s.to as Offer["to"];
      const to = session ? { to_session_id: session.id } : { to_agent_id: agent.id };
      return given({ ...holding(s), ...to, note: s.args.text, offer_seconds: s.args.seconds });
    },
    predict: (s) => {
      const said = given({ note: s.args.text, seconds: s.args.seconds });
      return { status: 201, offer: s.scene.rules.offer(s.who, s.task, s.proof, s.to as Offer["to"], said) };
    },
  },
  accept: {
    name: "accept_handoff",
    ...answering,
    input: (s) => given({ handoff_id: answered(s).id, lease_seconds: s.args.seconds }),
    predict: (s) => {
      const task = s.scene.rules.accept(s.who, answered(s), s.args.seconds);
      return { offer: answered(s), tasks: [snapshot(s.scene.rules, task)] };
    },
  },
  decline: {
    name: "decline_handoff",
    ...answering,
    input: (s) => given({ handoff_id: answered(s).id, reason: s.args.reason }),
    predict: (s) => ({ offer: s.scene.rules.decline(s.who, answered(s)) }),
  },
} satisfies Record<string, CallKind>;
