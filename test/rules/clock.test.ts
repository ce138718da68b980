import { describe, expect, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { FakeTime } from "../support/fake-time.js";
import { FreshStore } from "../support/fresh-store.js";

/** Field reports here: C46 (as far as the store is concerned), C49. */

const HOUR = 3_600_000;

/** A task that A holds for 60 s, and B who wants it. */
async function held() {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const { id } = await fresh.task();
  const { lease_expires_at } = await fresh.claim(id, ann, { lease_seconds: 60 });
  return { fresh, ann, ben, id, lease_expires_at };
}

describe("one clock decides (R2)", () => {
  test("set back an hour: nothing that is dead revives", async () => {
    const { fresh, ann, ben, id } = await held();
    fresh.time.pass(60_000);
    expect(await fresh.read(id)).toMatchObject({ lapsed: true });
    fresh.time.setWall(-HOUR);
    expect(await fresh.read(id)).toMatchObject({ lapsed: true, status: "open" });
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, ann)).toMatchObject({ reason: "expired" });
    expect((await fresh.claim(id, ben)).fence).toBe(2);
  });

  test("set back an hour: nothing that lives is stretched, the monotonic time goes on counting", async () => {
    const { fresh, ben, id, lease_expires_at } = await held();
    fresh.time.setWall(-HOUR);
    fresh.time.pass(59_999);
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", lease_remaining_ms: 1, lease_expires_at });
    fresh.time.pass(1);
    expect(await fresh.next(ben)).toMatchObject({ id, fence: 2 });
  });

  test("set back, then restarted: time never falls behind what was written", async () => {
    const { fresh, ann, ben, id } = await held();
    fresh.time.pass(60_000);
    expect(await fresh.next(ben)).toMatchObject({ id, fence: 2 });
    fresh.time.setWall(-HOUR);
    await fresh.restart();
    const { claimed_at } = await fresh.read(id);
    const later = await fresh.task();
    expect(Date.parse(later.created_at)).toBeGreaterThanOrEqual(Date.parse(claimed_at ?? ""));
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, ann)).toMatchObject({ reason: "expired" });
  });

  test("set back with several processes on one file: none of them stretches anything", async () => {
    const { fresh, ann, ben, id } = await held();
    const other = await fresh.another();
    await fresh.ask("get_task", { task_id: id }, ben, other);
    fresh.time.setWall(-HOUR);
    fresh.time.pass(59_999);
    expect(await fresh.next(ben, {}, other)).toBeNull();
    fresh.time.pass(1);
    expect(await fresh.next(ben, {}, other)).toMatchObject({ id, fence: 2 });
    await other.close();
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, ann)).toMatchObject({ reason: "expired" });
  });

  // A database's clock is the same for all that start; what it had reached is written down twice a second (R2).
  test.runIf(ON_SQLITE)(
    "set back while every command is a process of its own: nothing is stretched either",
    async () => {
      const { fresh, ben, id } = await held();
      fresh.time.setWall(-HOUR);
      fresh.time.pass(59_999);
      await fresh.restart();
      expect(await fresh.next(ben)).toBeNull();
      fresh.time.pass(1);
      await fresh.restart();
      expect(await fresh.next(ben)).toMatchObject({ id, fence: 2 });
    },
  );

  test("what one process has decided and written holds for another whose clock is behind", async () => {
    const { fresh, ann, ben, id } = await held();
    const behind = await fresh.another(new FakeTime(fresh.time.wallMs() - HOUR));
    fresh.time.pass(60_000);
    expect(await fresh.next(ben)).toMatchObject({ id });
    const refused = await fresh.refusal("heartbeat_task", { task_id: id }, ann, behind);
    await behind.close();
    expect(refused).toMatchObject({ code: "lease_lost", reason: "expired", holder: { agent_id: ben.id } });
  });

  test("C46: a machine's sleep counts, though its monotonic clock stood still", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [
      await fresh.worker("ann"),
      await fresh.session(await fresh.agent("ben"), { ttl_seconds: 86_400 }),
    ];
    const { id } = await fresh.task();
    await fresh.claim(id, ann, { lease_seconds: 900 });
    fresh.time.sleep(300_000);
    expect((await fresh.ask("heartbeat_task", { task_id: id }, ann)).fence).toBe(1);
    fresh.time.sleep(2 * HOUR);
    expect(await fresh.next(ben)).toMatchObject({ id, fence: 2 });
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, ann)).toMatchObject({ code: "session_ended" });
  });

  test("a forward jump of over a minute is told to the log; time that passed isn't", async () => {
    const fresh = await FreshStore.open();
    await fresh.sweep();
    fresh.time.pass(HOUR);
    await fresh.sweep();
    fresh.time.setWall(60_000);
    await fresh.sweep();
    expect(fresh.jumps).toEqual([]);
    fresh.time.setWall(60_001);
    await fresh.sweep();
    expect(fresh.jumps).toEqual([60_001]);
  });

  test("C49: times are UTC with Z and milliseconds in every zone, and lengths don't depend on it", async () => {
    const shown = [];
    for (const zone of ["America/Sao_Paulo", "Asia/Kolkata"]) {
      process.env.TZ = zone;
      try {
        const fresh = await FreshStore.open();
        const ann = await fresh.worker("ann");
        const { id } = await fresh.task({ not_before: "2026-01-01T15:29:00+05:30", due_date: "2026-01-02T00:00:00Z" });
        const held = await fresh.claim(id, ann, { lease_seconds: 600 });
        shown.push([held.not_before, held.due_date, held.lease_expires_at, held.created_at]);
      } finally {
        delete process.env.TZ;
      }
    }
    expect(shown[0]).toEqual([
      "2026-01-01T09:59:00.000Z",
      "2026-01-02T00:00:00.000Z",
      "2026-01-01T12:10:00.000Z",
      "2026-01-01T12:00:00.000Z",
    ]);
    expect(shown[1]).toEqual(shown[0]);
  });

  test("C49: a time without a zone is refused, naming what is missing", async () => {
    const fresh = await FreshStore.open();
    const refused = await fresh.refusal("create_task", { content: "x", not_before: "2026-03-01T10:00:00" }, fresh.root);
    expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "not_before" }] });
    expect(refused.message).toContain("zone");
  });
});
