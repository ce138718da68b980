import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { limit, playing, rounds } from "../support/campaign.js";
import type { CallStep } from "./calls.js";
import { held } from "./held.js";
import { Stage } from "./stage.js";
import { play, type Step } from "./steps.js";

/**
 * The rules in `rules.ts` were written from the rules' text, apart from the implementation. Plays of up to 36 steps (calls
 * of four agents of three roles in several sessions each, several calls in one instant, the clock moved to, before and
 * past whatever ends next, with and without anybody noticing) must give the same answers in both.
 *
 * That a broken rule is found was tried by breaking each of these in turn; the number is the play that found it: a lease
 * alive at its very end (5), one that outlives its session (3), releases that count as attempts (43), the oldest of the
 * lapsed tasks given last (27, only with many due at once), assigned tasks out of order (2), a scheduled task not listed as
 * ready at its instant (24), `lapsed` kept by the next grant (3), no notice of a lost lease (12), a reopened blocker that
 * holds nobody up (11), an offer told of when it is over (5), a lease told to end a little late (3), notices acknowledged in
 * vain (21), cancelling told each time it is asked for (221).
 *
 * The suite plays for seconds, `npm run campaign -- test/model` for minutes (MODEL_MINUTES), with a new seed every time.
 * A failure prints its seed and path; `MODEL_SEED=… MODEL_PATH=…` plays it again, and it becomes an example below.
 */
const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.MODEL_PATH;

function check(stage: () => Stage, numRuns: number, timeMs: number): Promise<void> {
  const property = fc.asyncProperty(play, (steps) => stage().play(steps));
  return held(property, {
    seed,
    numRuns,
    ...(path === undefined ? {} : { path }),
    // A slow machine plays fewer of them; it doesn't fail for that.
    interruptAfterTimeLimit: timeMs,
    markInterruptAsFailure: false,
  });
}

describe("the model of the rules and the engine agree", () => {
  let plain: Stage;
  let crowded: Stage;
  beforeAll(async () => {
    console.info(`model seed ${seed}`);
    plain = await Stage.set();
    crowded = await Stage.set(300);
  });
  afterAll(async () => {
    console.info(`${plain.plays + crowded.plays} plays`);
    await plain.strike();
    await crowded.strike();
  });

  test("over thousands of random plays, clock included (R1-R24)", { timeout: limit(60_000) }, () =>
    check(() => plain, rounds(2_000, 1_000_000), playing(9_000)),
  );

  test("also while hundreds of others' leases lapse at the same time (R12)", { timeout: limit(60_000) }, () =>
    check(() => crowded, rounds(60, 1_000_000), playing(3_000)),
  );

  const call = (does: CallStep["do"], args: CallStep["args"] = {}, more: Partial<CallStep> = {}): CallStep => ({
    ...{ do: does, agent: 0, seat: 0, task: 0, proof: "none", args },
    ...more,
  });
  const EXAMPLES: readonly (readonly [name: string, steps: readonly Step[]])[] = [
    [
      "a task taken through one filter was still in what had been read ahead for another (seed 687668442)",
      [
        { do: "together", calls: [call("next"), call("next", { project: "default" }), call("heartbeat")] },
        call("next", { count: 5 }),
      ],
    ],
  ];
  test.each(EXAMPLES)("found once: %s", (_name, steps) => plain.play(steps));
});
