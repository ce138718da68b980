import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

/** Field reports here: C79 (lengths of leases; no timer of the store's ever runs that long). */

const WRONG = [0, -5, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "300", 1e12, 29, 3601, 2 ** 31, 1e300, true, [300]];

describe("lengths of leases (R6)", () => {
  test.each(WRONG)("C79: %s is refused with the range in the message, and nothing is taken", async (lease_seconds) => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const wrong = { lease_seconds } as never;
    const expected = { code: "invalid_input", fields: [{ field: "lease_seconds" }] };
    const refusals = [
      await fresh.refusal("claim_next_task", wrong, ann),
      await fresh.refusal("claim_task", { task_id: id, ...(wrong as object) }, ann),
    ];
    await fresh.claim(id, ann);
    refusals.push(await fresh.refusal("heartbeat_task", { task_id: id, ...(wrong as object) }, ann));
    for (const refused of refusals) {
      expect(refused).toMatchObject(expected);
      expect(refused.message).toContain("30..3600");
    }
    expect(await fresh.read(id)).toMatchObject({ fence: 1, lease_remaining_ms: 300_000 });
  });

  test.each([
    [30, 30_000],
    [3600, 3_600_000],
    [undefined, 300_000],
    [null, 300_000],
  ])("C79: %s gives %i ms", async (lease_seconds, ms) => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 86_400 });
    await fresh.task();
    const task = await fresh.next(ann, { lease_seconds } as never);
    expect(task?.lease_remaining_ms).toBe(ms);
  });

  test("the workspace's own range and default hold from the next call on, and are named", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 86_400 });
    const settings = { lease_seconds_default: 5, lease_seconds_min: 1, lease_seconds_max: 86_400 };
    await fresh.ask("update_workspace", settings, fresh.root);
    await fresh.task();
    await fresh.task();
    expect(await fresh.next(ann)).toMatchObject({ lease_remaining_ms: 5_000 });
    expect(await fresh.next(ann, { lease_seconds: 86_400 })).toMatchObject({ lease_remaining_ms: 86_400_000 });
    for (const lease_seconds of [0, 86_401]) {
      expect((await fresh.refusal("claim_next_task", { lease_seconds }, ann)).message).toContain("1..86400");
    }
  });

  test("a range that contradicts itself, or leaves 1..86400, is refused whole", async () => {
    const fresh = await FreshStore.open();
    const before = await fresh.ask("get_workspace", {}, fresh.root);
    const wrong = [
      { lease_seconds_min: 600, lease_seconds_max: 500, lease_seconds_default: 550 },
      { lease_seconds_default: 20 },
      { lease_seconds_min: 301 },
      { lease_seconds_max: 299 },
      { lease_seconds_min: 0 },
      { lease_seconds_max: 86_401 },
      { max_attempts: 0 },
    ];
    for (const change of wrong) {
      const refused = await fresh.refusal("update_workspace", { ...change, name: "other" }, fresh.root);
      expect(refused.code, JSON.stringify(change)).toBe("invalid_input");
    }
    expect(await fresh.ask("get_workspace", {}, fresh.root)).toEqual(before);
  });

  test("sessions live 30..86400 s, 900 unless they say otherwise (R9)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    for (const [ttl_seconds, ms] of [
      [undefined, 900_000],
      [30, 30_000],
      [86_400, 86_400_000],
    ] as const) {
      const opened = await fresh.ask("open_session", { ttl_seconds }, ann);
      expect(opened).toMatchObject({ remaining_ms: ms, state: "open", implicit: false });
    }
    for (const ttl_seconds of [29, 86_401, 1.5, "900"]) {
      const refused = await fresh.refusal("open_session", { ttl_seconds } as never, ann);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "ttl_seconds" }] });
      expect(refused.message).toMatch(/30\.\.86400|whole number/);
    }
  });
});
