import { fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { open, operations } from "dibs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AnyStore, freshStore } from "../support/any-store.js";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { ownEnvironment } from "../support/server-process.js";

const HAMMER = fileURLToPath(new URL("../support/children/hammer.mjs", import.meta.url));
const WRITES = rounds(50, 1_000);

let kept: AnyStore;
beforeEach(async () => {
  kept = await freshStore(tmpdir());
});
afterEach(() => kept.remove());

test(
  "processes that write without a pause don't starve one that writes now and then (R56)",
  async () => {
    const store = await open({ store: kept.url });
    const caller = { identity: { kind: "file", agent: "polite" } } as const;
    const hammers = [1, 2].map(() => fork(HAMMER, [kept.url], { env: ownEnvironment({}) }));
    await Promise.all(hammers.map((hammer) => once(hammer, "message")));
    const tookMs: number[] = [];
    for (let write = 0; write < WRITES; write++) {
      const startedAt = performance.now();
      await store.call(operations.create_task, { content: "y" }, caller);
      tookMs.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const writes = hammers.map(async (hammer) => {
      hammer.send("end");
      return Number((await once(hammer, "message"))[0]);
    });
    const theirs = await Promise.all(writes);
    await store.close();
    measured("a write now and then beside two processes that never pause, ms", {
      ...spread(tookMs),
      theirs: theirs.join(" and "),
    });
    // At 30 s it would have been refused.
    expect(spread(tookMs).p50).toBeLessThan(1_000);
    expect(spread(tookMs).max).toBeLessThan(25_000);
    for (const each of theirs) expect(each).toBeGreaterThan(WRITES / 10);
  },
  limit(120_000),
);
