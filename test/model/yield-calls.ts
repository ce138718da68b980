import type { Body } from "../support/fresh-store.js";
import { asSession } from "./callers.js";
import type { Expected } from "./expected.js";
import { NAMES, spaceOf, type Wanted } from "./names.js";
import type { Claim } from "./scopes.js";
import { same } from "./shown.js";
import { type CallKind, given, type Subject } from "./subjects.js";
import type { Answer, Asking } from "./yields.js";

type Row = Body<"list_yields">[number];

/** What it must look like; who asked in a session that this very call opened is known by it. */
export function compareYield(asking: Asking, shown: Row): void {
  asking.id ??= shown.id;
  const { claim, by } = asking;
  by.id ??= shown.asked_by_session_id;
  same(
    [shown.id, shown.claim_id, shown.scope, shown.holder_session_id, shown.asked_by_session_id],
    [asking.id, claim.id, claim.name.text, claim.session.id, by.id],
  );
  same([shown.reason, shown.answer, shown.answer_reason], [asking.reason, asking.answer, asking.answerReason]);
}

function about(asking: Asking): Expected["also"] {
  const then = { ...asking };
  return (body) => {
    asking.id ??= String(body.id);
    asking.by.id ??= String(body.asked_by_session_id);
    compareYield({ ...then, id: asking.id }, body as unknown as Row);
  };
}

/** One that somebody holds, or any. */
function askedFor({ scene: { rules }, args }: Subject): Claim | undefined {
  const known = rules.claims.filter(({ id }) => id !== null);
  const living = known.filter((claim) => rules.lives(claim));
  const among = args.flag && living.length > 0 ? living : known;
  return among.at(-1 - ((args.own ?? 0) % Math.max(1, among.length)));
}

function asked({ scene: { rules }, args }: Subject): Asking | undefined {
  const known = rules.askings.filter(({ id }) => id !== null);
  return known.at(-1 - ((args.resume ?? 0) % Math.max(1, known.length)));
}

function keptOf(s: Subject): Wanted[] | undefined {
  if (s.args.names === undefined || s.args.answer === "yield") return undefined;
  const { claim } = s.asking as Asking;
  const parts = NAMES.filter(
    (name) => name !== claim.name && name.covers.every((each) => claim.name.covers.includes(each)),
  );
  // Mostly of what is a part of it.
  const among = s.args.flag && parts.length > 0 ? parts : NAMES;
  return s.args.names.map(({ at }) => {
    const name = among[at % among.length] as Wanted["name"];
    return { name, mode: claim.mode, space: spaceOf(name, claim.project) };
  });
}

export const YIELD_CALLS = {
  askToYield: {
    name: "request_yield",
    record: true,
    sense: (s) => askedFor(s) !== undefined,
    aims: (s) => ({ claim: askedFor(s) as Claim }),
    input: (s) => given({ claim_id: s.claim?.id, reason: s.args.reason }),
    predict: (s) => {
      const { asking, again } = s.scene.rules.askToYield(s.who, s.claim as Claim, s.args.reason);
      return { status: again ? 200 : 201, also: about(asking) as NonNullable<Expected["also"]> };
    },
  },
  answerYield: {
    name: "answer_yield",
    record: true,
    sense: (s) => asked(s) !== undefined,
    // Mostly by who holds it.
    aims(s) {
      const asking = asked(s) as Asking;
      return s.args.flag ? { asking, who: asSession(asking.claim.session) } : { asking };
    },
    input: (s) => {
      const { answer = "yield", reason, text: handoff } = s.args;
      const scopes = keptOf(s)?.map(({ name }) => name.text);
      return given({ yield_id: s.asking?.id, answer, reason, scopes, handoff });
    },
    predict: (s) => {
      const { answer = "yield", reason, text: handoff } = s.args;
      const said = given({ answer, reason, keeps: keptOf(s), handoff }) as unknown as Answer;
      const asking = s.scene.rules.answerYield(s.who, s.asking as Asking, said);
      return { also: about(asking) as NonNullable<Expected["also"]> };
    },
  },
} satisfies Record<string, CallKind>;
