import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { limit, rounds } from "../support/campaign.js";
import { SCOPES_OPENINGS, scopesPlay } from "./scope-steps.js";
import { Stage } from "./stage.js";

/**
 * As model.test.ts, with plays about names: few of them, wanted by many at once. The model of them was written from the
 * text of R29-R37 as well.
 */
const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.MODEL_PATH;

/** What plays are to come to, and in how many of a thousand of them at least. */
const REACHED: Readonly<Record<string, number>> = {
  "a claim lapsed": 100,
  "claimed once more": 100,
  upgraded: 20,
  "released once of several times": 20,
};

describe("the model of the rules and the engine agree about scopes", () => {
  let stage: Stage;
  beforeAll(async () => {
    console.info(`model seed ${seed}`);
    stage = await Stage.set(0, SCOPES_OPENINGS);
  });
  afterAll(() => stage.strike());

  test("over a thousand random plays (R29-R37)", { timeout: limit(60_000) }, async () => {
    const property = fc.asyncProperty(scopesPlay, (steps) => stage.play(steps));
    await fc.assert(property, {
      seed,
      numRuns: rounds(1_000, 100_000),
      ...(path === undefined ? {} : { path }),
      interruptAfterTimeLimit: limit(25_000),
      markInterruptAsFailure: false,
    });
    console.info(`${stage.plays} plays on ${ON_SQLITE ? "SQLite" : "PostgreSQL"}`, Object.fromEntries(stage.tally));
    // A few plays show nothing of how often something comes.
    if (stage.plays < 100) return;
    const rare = Object.entries(REACHED).filter(
      ([what, ofThousand]) => (stage.tally.get(what) ?? 0) < (stage.plays * ofThousand) / 1000,
    );
    expect(rare).toEqual([]);
  });
});
