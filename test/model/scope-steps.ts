import fc from "fast-check";
import type { CallStep } from "./calls.js";
import { NAMES } from "./names.js";
import { act, call, flag, plays, reason, some, type Weighted } from "./steps.js";

const seconds = some(5, fc.constantFrom(30, 31, 60, 100, 300, 3600, 29, 3601));
const project = some(1, fc.constantFrom("default", "other"));
const name = fc.record({
  // The tree is wanted more often than the rest.
  at: fc.oneof({ weight: 3, arbitrary: fc.nat(4) }, { weight: 2, arbitrary: fc.nat(NAMES.length - 1) }),
  shared: fc.constantFrom(false, false, true),
});
const names = fc.array(name, { minLength: 1, maxLength: 3 });
const claims = (ofTen: number) => some(ofTen, fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }));

const CALLS_OF_NAMES: Weighted<CallStep>[] = [
  call(14, "names", { names, seconds, project }),
  call(3, "keep", { names, seconds, project, claims: claims(3), all: flag(3) }),
  call(7, "free", { names, project, claims: claims(4), all: flag(3) }),
  call(1, "open", { seconds: some(7, fc.constantFrom(30, 40, 120, 900)), parent: some(2, fc.nat(7)) }),
  call(1, "create", {}),
  call(2, "claim", { seconds, flag: flag(2), reason }),
  call(2, "complete", {}),
];

export const scopesPlay = plays(CALLS_OF_NAMES);

/** Sessions of all, and tasks. */
export const SCOPES_OPENINGS: readonly (readonly CallStep[])[] = [
  [
    ...[30, 900].map((ttl) => act("open", 0, { seconds: ttl })),
    ...[900, 120].map((ttl) => act("open", 1, { seconds: ttl })),
    act("open", 2, {}),
    act("create", 0, {}),
    act("create", 1, { priority: 4 }),
  ],
];
