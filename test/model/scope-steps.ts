import fc from "fast-check";
import type { CallStep } from "./calls.js";
import { NAMES } from "./names.js";
import { act, call, flag, plays, reason, some, type Weighted } from "./steps.js";

const seconds = some(5, fc.constantFrom(30, 31, 60, 100, 300, 3600, 29, 3601));
const project = some(1, fc.constantFrom("default", "other"));
const any = { weight: 2, arbitrary: fc.nat(NAMES.length - 1) };
const namesOf = (often: fc.Arbitrary<number>) => {
  const name = fc.record({
    at: fc.oneof({ weight: 4, arbitrary: often }, any),
    shared: fc.constantFrom(false, false, true),
  });
  return fc.array(name, { minLength: 1, maxLength: 3 });
};
const claims = (ofTen: number) => some(ofTen, fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }));

/** Few, so that they meet; agents without a session, or in one of a few. */
const few = { agent: fc.nat(2), seat: fc.constantFrom(0, 0, 1, 2), task: fc.nat(6) };
const coordinators = { ...few, agent: fc.constantFrom(2, 2, 3, 1) };
const frozenFor = fc.constantFrom(20, 20, 60, 600);
const priority = some(3, fc.constantFrom(1, 3, 4));
const own = fc.nat(5);
const offered = {
  assign: some(9, fc.nat(2)),
  parent: some(4, fc.nat(6)),
  text: some(2, fc.constantFrom("one", "two")),
  seconds: some(3, fc.constantFrom(1, 30, 60)),
};
const aimed = flag(7);
const answered = {
  answer: fc.constantFrom("yield", "yield", "hold", "narrow", "narrow", "narrow"),
  reason: some(6, fc.constant("because")),
  text: some(2, fc.constant("half done")),
};
const ticket = fc.constantFrom(0, 0, 1, 2, 3);

const callsOf = (names: ReturnType<typeof namesOf>): Weighted<CallStep>[] => [
  call(12, "names", { names, seconds, project, priority, wait: flag(8) }, few),
  call(2, "names", { names, seconds, project, priority, wait: flag(8), forTask: fc.constant(true) }, few),
  call(2, "keep", { names, seconds, project, claims: claims(3), all: flag(3), text: some(2, fc.constant("on")) }, few),
  call(5, "names", { own, names, seconds, wait: flag(8) }, few),
  call(4, "free", { own }, few),
  call(4, "free", { names, project, claims: claims(4), all: flag(3) }, few),
  call(2, "ask", { ticket }, few),
  call(7, "takeOffered", { ticket, flag: flag(8) }, few),
  call(1, "leave", { ticket, flag: flag(5) }, few),
  call(1, "overrule", { ticket, reason }, few),
  call(1, "open", { seconds: some(7, fc.constantFrom(30, 40, 120, 900)), parent: some(2, fc.nat(7)) }),
  call(1, "create", {}),
  call(3, "touching", { names, project, priority: some(3, fc.constantFrom(1, 2, 4)) }),
  call(3, "nextFree", { seconds, project, count: some(3, fc.constantFrom(2, 5)) }),
  call(2, "claim", { seconds, flag: flag(2), reason }),
  call(1, "heartbeat", { seconds, aimed }),
  call(2, "complete", { aimed }),
  call(1, "release", { aimed }),
  call(1, "fail", { reason, flag: flag(6), aimed }),
  call(1, "force", { reason }),
  call(1, "delegate", { aimed }),
  call(1, "reopen", {}),
];

const SLOT = NAMES.findIndex(({ text }) => text === "slot:1");
const places = call(2, "places", { own: fc.constantFrom(3, 3, 3, 2), count: fc.constantFrom(1, 2, 2, 3) }, few);
const holds = [
  call(
    2,
    "freeze",
    { own: fc.nat(NAMES.length - 1), project, count: frozenFor, assign: some(4, fc.nat(2)) },
    coordinators,
  ),
  call(1, "place", { project, count: frozenFor, assign: some(4, fc.nat(2)) }, coordinators),
  call(2, "lift", { count: fc.nat(5) }, coordinators),
];
const yields = (names: ReturnType<typeof namesOf>) => [
  call(2, "askToYield", { own, reason, flag: flag(9) }, few),
  call(4, "answerYield", { resume: some(3, fc.nat(3)), ...answered, flag: flag(9), names: some(9, names) }, few),
];
const handoffs = [
  call(3, "offerName", { own, ...offered, flag: flag(9) }, few),
  call(1, "offer", { ...offered, flag: flag(9) }, few),
  call(4, "accept", { resume: some(2, fc.nat(3)), seconds: some(2, fc.constantFrom(30, 60, 29)), flag: flag(9) }),
  call(1, "decline", { resume: some(3, fc.nat(3)), flag: flag(5) }),
];

const often = (times: number, calls: readonly Weighted<CallStep>[]) =>
  calls.map(({ weight, arbitrary }) => ({ weight: weight * times, arbitrary }));
const onTree = namesOf(fc.nat(2));
/** Each play has something that happens in it often: with all of them at once none got far enough. */
const about = (theme: readonly Weighted<CallStep>[], names = onTree) =>
  plays(often(2, callsOf(names)).concat(often(8, theme), holds, yields(names), handoffs, [places]), 3);

/** Few sessions that wait for several things each, nearly all in each other's way. */
const crowd = (() => {
  const name = { at: fc.constantFrom(0, 1, 2, 3, 4, 5, 8, 9, SLOT, SLOT), shared: fc.constantFrom(false, false, true) };
  const names = fc.array(fc.record(name), { minLength: 1, maxLength: 2 });
  const wait = fc.constant(true);
  return plays(
    [
      call(12, "names", { names, priority, wait, seconds: fc.constant(3600) }, few),
      call(2, "free", { own, all: flag(5) }, few),
      call(1, "takeOffered", { ticket, flag: wait }, few),
      call(1, "leave", { ticket, flag: wait }, few),
      places,
    ],
    3,
  );
})();

/** Tasks that want much are passed over while what they want is claimed in parts, for long, and by few. */
const starving = (() => {
  const at = fc.constantFrom(0, 1, 2, 3, 5, 6, 7, SLOT);
  const names = fc.array(fc.record({ at, shared: fc.constantFrom(false, false, true) }), {
    minLength: 1,
    maxLength: 2,
  });
  const seconds = fc.constantFrom(3600, 3600, 3600, 300);
  const pass = { weight: 4, arbitrary: fc.constantFrom(300_000, 599_999, 600_000, 600_000, 600_001) };
  return plays(
    [
      call(8, "names", { names, priority, wait: flag(6), seconds }, few),
      call(3, "touching", { names, priority: some(3, fc.constantFrom(1, 4)) }, few),
      call(12, "nextFree", { seconds, count: some(3, fc.constantFrom(2, 5)) }, few),
      call(6, "free", { own, all: flag(2) }, few),
      call(2, "takeOffered", { ticket, flag: aimed }, few),
      call(1, "claim", { seconds, flag: flag(2), reason }),
      call(2, "release", { aimed }),
      call(1, "complete", { aimed }),
      call(1, "cancel", { reason }),
      call(1, "reopen", {}),
      call(1, "delegate", {}),
      call(1, "depend", { others: fc.array(fc.nat(6), { minLength: 1, maxLength: 1 }) }),
      call(1, "update", { inSeconds: some(5, fc.constantFrom(20, 300)), priority }),
      call(1, "overrule", { ticket, reason }, few),
      call(1, "freeze", { own: fc.nat(NAMES.length - 1), count: frozenFor, assign: some(4, fc.nat(2)) }, coordinators),
      places,
    ],
    3,
    pass,
  ).map((steps) => [...[0, 1].map((agent) => act("open", agent, { seconds: 86_400 })), ...steps]);
})();

export const scopesPlay = fc.oneof(
  crowd,
  starving,
  about([]),
  about(holds),
  about(yields(onTree)),
  about(handoffs),
  about([places], namesOf(fc.constantFrom(SLOT, SLOT, SLOT, 0))).map((steps) => [
    act("places", 2, { own: 3, count: 2 }),
    ...steps,
  ]),
);

/** Sessions of all, and tasks. */
export const SCOPES_OPENINGS: readonly (readonly CallStep[])[] = [
  [
    ...[30, 900].map((ttl) => act("open", 0, { seconds: ttl })),
    ...[900, 120].map((ttl) => act("open", 1, { seconds: ttl })),
    act("open", 2, {}),
    act("create", 0, {}),
    act("touching", 1, { priority: 4, names: [{ at: 1, shared: false }] }),
    act("touching", 0, { names: [{ at: 0, shared: false }] }),
    act("touching", 2, {
      names: [
        { at: 3, shared: true },
        { at: 8, shared: false },
      ],
    }),
  ],
];
