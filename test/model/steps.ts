import fc from "fast-check";
import type { CallStep } from "./calls.js";
import { given } from "./subjects.js";

/** Given in so many of ten calls. */
export const some = <T>(ofTen: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 10 - ofTen, arbitrary: fc.constant(undefined) }, { weight: ofTen, arbitrary: value });

const ANYBODY = { agent: fc.nat(3), seat: fc.nat(3), task: fc.nat(11) };
const PROOFS = ["none", "lease", "lease", "fence", "older", "foreign", "wrong fence"] as const;

export interface Weighted<T> {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<T>;
}

export function call(
  weight: number,
  does: CallStep["do"],
  args: Record<string, fc.Arbitrary<unknown>>,
  who: Record<"agent" | "seat" | "task", fc.Arbitrary<number>> = ANYBODY,
): Weighted<CallStep> {
  const plain = { noNullPrototype: true };
  const record = { do: fc.constant(does), ...who, proof: fc.constantFrom(...PROOFS), args: fc.record(args).map(given) };
  return { weight, arbitrary: fc.record(record, plain) as fc.Arbitrary<CallStep> };
}

const seconds = some(5, fc.constantFrom(30, 31, 60, 100, 300, 3600, 29, 3601));
const labels = (ofTen: number) => some(ofTen, fc.constantFrom(["a"], ["b"], ["a", "b"], []));
const project = some(2, fc.constantFrom("default", "other"));
const priority = some(5, fc.integer({ min: 1, max: 4 }));
const assign = some(2, fc.nat(4));
const inSeconds = some(2, fc.constantFrom(-5, 20, 45, 300));
const max = (ofTen: number) => some(ofTen, fc.constantFrom(1, 2, 3));
export const reason = some(8, fc.constant("because"));
const state = some(5, fc.constantFrom("working", "waiting_input", "errored"));
const text = some(5, fc.constantFrom("one", "two"));
const others = (ofTen: number) => some(ofTen, fc.array(fc.nat(11), { minLength: 1, maxLength: 3 }));
export const flag = (ofTen: number) => some(ofTen, fc.constant(true));

const CALLS_OF_TASKS: Weighted<CallStep>[] = [
  call(5, "create", { priority, assign, inSeconds, labels: labels(4), project, max: max(4), others: others(3) }),
  call(6, "next", { labels: labels(2), project, seconds, count: some(2, fc.constantFrom(1, 2, 5)) }),
  call(5, "claim", { seconds, flag: flag(3), reason }),
  call(4, "heartbeat", { seconds, state, text, count: some(2, fc.nat(9)), labels: labels(2) }),
  call(1, "state", { state, text }),
  call(3, "release", { text }),
  call(5, "complete", { text }),
  call(2, "fail", { reason, flag: flag(6) }),
  call(2, "cancel", { reason }),
  call(3, "reopen", { reason }),
  call(1, "retry", { reason }),
  call(1, "force", { reason }),
  call(2, "update", {
    priority,
    assign,
    inSeconds,
    labels: labels(2),
    project,
    max: max(2),
    flag: flag(1),
    others: others(1),
  }),
  call(1, "remove", { flag: flag(5) }),
  call(4, "depend", { others: others(9) }),
  call(3, "delegate", { priority, assign, text, others: others(2) }),
  call(4, "offer", {
    assign: some(9, fc.nat(3)),
    parent: some(4, fc.nat(11)),
    text,
    seconds: some(5, fc.constantFrom(1, 30, 60, 86_400)),
    flag: flag(8),
  }),
  call(4, "accept", { resume: some(2, fc.nat(3)), seconds: some(2, fc.constantFrom(30, 60, 29)), flag: flag(8) }),
  call(2, "decline", { resume: some(3, fc.nat(3)), reason, flag: flag(5) }),
  call(2, "undepend", { others: others(9) }),
  call(1, "place", { project, count: fc.constantFrom(20, 60, 600) }),
  call(2, "lift", { count: fc.nat(5) }),
  call(3, "open", {
    seconds: some(7, fc.constantFrom(30, 40, 120, 900)),
    parent: some(4, fc.nat(7)),
    resume: some(2, fc.nat(7)),
    harness: some(3, fc.constantFrom("h1", "h2")),
    used: flag(3),
  }),
];

type Deed =
  | CallStep
  /** The clock moves: by so much, or to a known instant (that many ahead) or beside it. */
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "reach"; readonly ahead: number; readonly offMs: -1 | 0 | 1 }
  /** Somebody else writes something, so that what the clock did is put on record. */
  | { readonly do: "sweep" }
  | { readonly do: "together"; readonly calls: readonly CallStep[] }
  | { readonly do: "beat"; readonly agent: number; readonly seat: number; readonly ack: boolean }
  | { readonly do: "end"; readonly agent: number; readonly seat: number }
  /** Asks about the state in every way there is. */
  | { readonly do: "look" }
  | { readonly do: "restart" };

/** Done through the first process on the file, or through the second. */
export type Step = Deed & { readonly desk?: 0 | 1 };

const SHORT = fc.integer({ min: 1, max: 100_000 });

function deeds(callStep: fc.Arbitrary<CallStep>, reach: number, pass: Weighted<number>): fc.Arbitrary<Deed> {
  return fc.oneof(
    { weight: 30, arbitrary: callStep },
    { weight: pass.weight, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: pass.arbitrary }) },
    {
      weight: reach,
      arbitrary: fc.record({
        do: fc.constant("reach" as const),
        ahead: fc.constantFrom(0, 0, 0, 1, 2, 5),
        offMs: fc.constantFrom(-1 as const, 0 as const, 0 as const, 1 as const),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ do: "sweep" } as const) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("together" as const),
        calls: fc.array(callStep, { minLength: 2, maxLength: 5 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant("beat" as const), agent: fc.nat(3), seat: fc.nat(3), ack: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("end" as const), agent: fc.nat(3), seat: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ do: "restart" } as const, { do: "look" } as const, { do: "look" } as const),
    },
  );
}

/**
 * Plays of up to 36 steps with these calls; `reach`: how often the clock moves to what ends next, `pass`: how often by so
 * much.
 */
export function plays(
  calls: readonly Weighted<CallStep>[],
  reach = 7,
  pass: Weighted<number> = { weight: 2, arbitrary: SHORT },
): fc.Arbitrary<Step[]> {
  const step = fc
    .tuple(deeds(fc.oneof(...calls), reach, pass), fc.constantFrom(0 as const, 0 as const, 1 as const))
    .map(([done, desk]): Step => (desk === 0 ? done : { ...done, desk }));

  return fc.array(step, { minLength: 1, maxLength: 36, size: "max" });
}

export const play = plays(CALLS_OF_TASKS);

export const act = (does: CallStep["do"], agent: number, args: CallStep["args"]): CallStep => {
  return { do: does, agent, seat: 0, task: 0, proof: "none", args };
};

/** What plays begin with: sessions of all, and tasks of several kinds. */
const OPENING: readonly CallStep[] = [
  ...[30, 900].map((seconds) => act("open", 0, { seconds })),
  ...[900, 120].map((seconds) => act("open", 1, { seconds })),
  ...[2, 3].map((agent) => act("open", agent, {})),
  act("create", 0, {}),
  act("create", 2, { priority: 4, max: 1 }),
  act("create", 1, { labels: ["a"], max: 2 }),
  act("create", 2, { assign: 0 }),
  act("create", 3, { labels: ["a", "b"], project: "other", priority: 3 }),
  act("create", 0, { inSeconds: 45 }),
];

/** And then, when the first have ids: one that is ready as what it waited for is completed, one that waits for a second. */
const OPENING_OF_WAITING: readonly CallStep[] = [
  act("create", 2, { others: [0] }),
  act("create", 1, { others: [0, 1], labels: ["a"] }),
  act("claim", 0, {}),
  act("complete", 0, {}),
];

export const OPENINGS: readonly (readonly CallStep[])[] = [OPENING, OPENING_OF_WAITING];
