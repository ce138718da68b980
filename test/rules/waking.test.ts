import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Real time: what waits is woken by real timers. A's call waits before `wake` happens; what it gets, and after how long. */
async function wokenBy(wake: (scene: { fresh: FreshStore; ann: Actor }) => Promise<unknown>) {
  const fresh = await FreshStore.open({ realTime: true });
  await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
  const ann = await fresh.worker("ann");
  return { fresh, ann, ...(await waitFor(fresh, ann, () => wake({ fresh, ann }))) };
}

async function waitFor(fresh: FreshStore, who: Actor, wake: () => Promise<unknown>, labels: string[] = []) {
  const waiting = fresh.next(who, { wait_seconds: 20, labels });
  await sleep(30);
  await wake();
  const wokenAt = performance.now();
  const task = await waiting;
  return { task, tookMs: performance.now() - wokenAt };
}

describe("a waiting claim wakes within a second of what it can take (R21)", () => {
  test("a creation", async () => {
    const { task, tookMs } = await wokenBy(({ fresh }) => fresh.task({ content: "new" }));
    expect(task).toMatchObject({ content: "new" });
    expect(tookMs).toBeLessThan(1_000);
  });

  /** Something that B holds or has closed, and what makes it claimable again. */
  const ways: readonly [how: string, (scene: { fresh: FreshStore; ben: Actor; id: string }) => Promise<unknown>][] = [
    ["a release", ({ fresh, ben, id }) => fresh.ask("release_task", { task_id: id }, ben)],
    [
      "a failure to be retried",
      ({ fresh, ben, id }) => fresh.ask("fail_task", { task_id: id, reason: "x", retry: true }, ben),
    ],
    [
      "the end of the holder's session",
      ({ fresh, ben }) => fresh.ask("end_session", { session_id: ben.sessionId }, ben),
    ],
    [
      "a release by force",
      ({ fresh, id }) => fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root),
    ],
    [
      "the deletion of the holder",
      ({ fresh, ben }) => fresh.ask("delete_agent", { agent_id: ben.id, force: true, reason: "gone" }, fresh.root),
    ],
    [
      "a revocation that releases",
      ({ fresh, ben }) => fresh.ask("revoke_agent_key", { agent_id: ben.id, release: true }, fresh.root),
    ],
    [
      "a reopening",
      async ({ fresh, ben, id }) => {
        await fresh.ask("complete_task", { task_id: id }, ben);
        await fresh.ask("reopen_task", { task_id: id }, fresh.root);
      },
    ],
    [
      "a retry",
      async ({ fresh, ben, id }) => {
        await fresh.ask("fail_task", { task_id: id, reason: "x" }, ben);
        await fresh.ask("retry_task", { task_id: id, reason: "y" }, fresh.root);
      },
    ],
  ];
  test.each(ways)("%s", async (_how, wake) => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    await fresh.claim(id, ben);
    const { task, tookMs } = await waitFor(fresh, ann, () => wake({ fresh, ben, id }));
    expect(task).toMatchObject({ id, claimed_by_agent_id: ann.id });
    expect(tookMs).toBeLessThan(1_000);
  });

  const unblocking: readonly [
    how: string,
    (scene: { fresh: FreshStore; ben: Actor; id: string; waiting: string }) => Promise<unknown>,
  ][] = [
    ["the completion of a blocker", ({ fresh, ben, id }) => fresh.ask("complete_task", { task_id: id }, ben)],
    [
      "the completion of a blocker by another process",
      async ({ fresh, ben, id }) => {
        const other = await fresh.another();
        await fresh.ask("complete_task", { task_id: id }, ben, other);
        await other.close();
      },
    ],
    [
      "a dependency that is removed",
      ({ fresh, id, waiting }) => fresh.ask("remove_dependency", { task_id: waiting, blocker_id: id }, fresh.root),
    ],
    [
      "a blocker that is deleted",
      async ({ fresh, ben, id }) => {
        await fresh.ask("cancel_task", { task_id: id }, ben);
        await fresh.ask("delete_task", { task_id: id, force: true, reason: "gone" }, fresh.root);
      },
    ],
  ];
  test.each(unblocking)("%s", async (_how, wake) => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    const waiting = (await fresh.task({ depends_on: [id] })).id;
    await fresh.claim(id, ben);
    const { task, tookMs } = await waitFor(fresh, ann, () => wake({ fresh, ben, id, waiting }));
    expect(task).toMatchObject({ id: waiting, claimed_by_agent_id: ann.id });
    expect(tookMs).toBeLessThan(1_000);
  });

  const changes: readonly [how: string, (made: { ann: Actor }) => object, change: object][] = [
    [
      "an assignment taken away",
      ({ ann }) => ({ assigned_to_agent_id: `not ${ann.id}` }),
      { assigned_to_agent_id: null },
    ],
    ["a label", () => ({ labels: ["other"] }), { labels: ["wanted"] }],
    ["a start that is moved to now", () => ({ not_before: "2099-01-01T00:00:00Z" }), { not_before: null }],
  ];
  test.each(changes)("a change of the task: %s", async (_how, made, change) => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const input = { labels: ["wanted"], ...made({ ann }) } as Record<string, unknown>;
    if (typeof input.assigned_to_agent_id === "string") input.assigned_to_agent_id = ben.id;
    const { id } = await fresh.task(input);
    const wake = () => fresh.ask("update_task", { task_id: id, ...change }, fresh.root);
    const { task, tookMs } = await waitFor(fresh, ann, wake, ["wanted"]);
    expect(task).toMatchObject({ id });
    expect(tookMs).toBeLessThan(1_000);
  });

  test("the deletion of the agent a task was assigned to", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task({ assigned_to_agent_id: ben.id });
    const wake = () => fresh.ask("delete_agent", { agent_id: ben.id }, fresh.root);
    const { task, tookMs } = await waitFor(fresh, ann, wake);
    expect(task).toMatchObject({ id });
    expect(tookMs).toBeLessThan(1_000);
  });

  test("the clock alone: a lapse, not before its instant", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    const { lease_expires_at } = await fresh.claim(id, ben, { lease_seconds: 1 });
    const task = await fresh.next(ann, { wait_seconds: 20 });
    const lateMs = Date.parse(task?.claimed_at ?? "") - Date.parse(lease_expires_at ?? "");
    expect(task).toMatchObject({ id, fence: 2 });
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(1_000);
  });

  test("the clock alone: not_before", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const not_before = new Date(Date.now() + 500).toISOString();
    const { id } = await fresh.task({ not_before });
    const task = await fresh.next(ann, { wait_seconds: 20 });
    const lateMs = Date.parse(task?.claimed_at ?? "") - Date.parse(not_before);
    expect(task).toMatchObject({ id });
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(1_000);
  });

  test("another process's change on the file, within 100 ms where the machine is not overloaded (R56)", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const other = await fresh.another();
    const took = [];
    for (let round = 0; round < 8; round += 1) {
      const create = () => fresh.ask("create_task", { content: "x" }, fresh.root, other);
      const { task, tookMs } = await waitFor(fresh, ann, create);
      expect(task).not.toBeNull();
      took.push(tookMs);
    }
    await other.close();
    expect(Math.max(...took)).toBeLessThan(1_000);
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test("a task made in the very transaction that left the call empty", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const startedAt = performance.now();
    const [task] = await Promise.all([fresh.next(ann, { wait_seconds: 20 }), fresh.task({ content: "just after" })]);
    expect(task).toMatchObject({ content: "just after" });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
