import { asSession } from "./callers.js";
import type { Offer } from "./handoffs.js";
import { claimSnapshot } from "./names-shown.js";
import type { Who } from "./records.js";
import type { Claim } from "./scopes.js";
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

const toWhom = ({ to }: Subject) => (to?.session ? { to_session_id: to.session.id } : { to_agent_id: to?.agent.id });

/** The offer that is answered; the newest are answered most. */
function offerOf({ scene, args }: Subject): Offer | undefined {
  const known = scene.rules.offers.filter(({ id }) => id !== null);
  return known.at(-1 - ((args.resume ?? 0) % Math.max(1, known.length)));
}

const answering = {
  sense: (subject: Subject) => offerOf(subject) !== undefined,
  /** Mostly by those whom it is for. */
  aims(subject: Subject) {
    const offer = offerOf(subject) as Offer;
    const { to } = offer;
    if (!subject.args.flag) return { offer };
    if (to.session) return { offer, who: asSession(to.session) };
    return { offer, ...(to.agent === subject.who.agent ? {} : { who: { agent: to.agent, session: null } }) };
  },
} as const;
const answered = (subject: Subject) => subject.offer as Offer;

/** What is handed over of names: one that lives and that a session claimed by itself, or any. */
function claimFor({ scene: { rules }, args, who }: Subject): { claim?: Claim; who?: Who } {
  const known = rules.claims.filter(({ id }) => id !== null);
  const own = known.filter((claim) => rules.lives(claim) && !claim.task);
  const among = args.flag && own.length > 0 ? own : known;
  const claim = among.at(-1 - ((args.own ?? 0) % Math.max(1, among.length)));
  if (!claim) return {};
  return { claim, who: args.flag ? asSession(claim.session) : who };
}

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
      return { to, task: chosen, who: asSession(chosen.live.session), proof: {} };
    },
    input: (s) => given({ ...holding(s), ...toWhom(s), note: s.args.text, offer_seconds: s.args.seconds }),
    predict: (s) => {
      const said = given({ note: s.args.text, seconds: s.args.seconds });
      return { status: 201, offer: s.scene.rules.offer(s.who, s.task, s.proof, s.to as Offer["to"], said) };
    },
  },
  offerName: {
    name: "handoff_claim",
    record: true,
    sense: (subject) => claimFor(subject).claim !== undefined,
    aims: (subject) => ({ to: receiver(subject), ...claimFor(subject) }),
    input: (s) => given({ claim_id: s.claim?.id, ...toWhom(s), note: s.args.text, offer_seconds: s.args.seconds }),
    predict: (s) => {
      const said = given({ note: s.args.text, seconds: s.args.seconds });
      return { status: 201, offer: s.scene.rules.offerName(s.who, s.claim as Claim, s.to as Offer["to"], said) };
    },
  },
  accept: {
    name: "accept_handoff",
    ...answering,
    input: (s) => given({ handoff_id: answered(s).id, lease_seconds: s.args.seconds }),
    predict: (s) => {
      const { rules, names } = s.scene;
      const offer = answered(s);
      const granted = rules.accept(s.who, offer, s.args.seconds);
      if (offer.of.task) return { offer, tasks: [snapshot(rules, offer.of.task)] };
      const claim = claimSnapshot(rules, granted as Claim);
      return { offer, also: ({ claim: shown }) => names.claim(claim, shown as Parameters<typeof names.claim>[1]) };
    },
  },
  decline: {
    name: "decline_handoff",
    ...answering,
    // Else by who offers it, who takes it back.
    aims(subject) {
      if (subject.args.flag) return answering.aims(subject);
      const offer = offerOf(subject) as Offer;
      return { offer, who: asSession(offer.of.lease.session) };
    },
    input: (s) => given({ handoff_id: answered(s).id, reason: s.args.reason }),
    predict: (s) => ({ offer: s.scene.rules.decline(s.who, answered(s), s.args.reason) }),
  },
} satisfies Record<string, CallKind>;
