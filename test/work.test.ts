import { open } from "dibs";
import { Dibs, WorkStopped } from "dibs/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "./support/manual-clock.js";
import { ScratchFolder } from "./support/scratch-folder.js";

type Store = Awaited<ReturnType<typeof open>>;

let folder: ScratchFolder;
let store: Store;
/** The worker's client, and a coordinator's. */
let dibs: Dibs;
let boss: Dibs;

beforeEach(async () => {
  folder = new ScratchFolder();
  store = await open({ store: `sqlite:${folder.file("dibs.db")}` });
  dibs = Dibs.over(store.call, { kind: "file", agent: "worker" });
  boss = Dibs.over(store.call, { kind: "file", agent: "boss" });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const drain = { stopWhenEmpty: true } as const;

async function sessionsOf(agent: Dibs) {
  const me = await agent.getMe();
  return agent.listSessions({ agent_id: me.id });
}

/** Lets what a moved clock started come to its end. */
async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}

describe("the client's work loop", () => {
  test("does every task once, in a session of its own that ends with it", async () => {
    await boss.createTasks({
      tasks: [{ content: "a" }, { content: "b", priority: 4 }, { content: "c", labels: ["x"] }],
    });
    const done: string[] = [];
    for await (const task of dibs.work(drain)) {
      expect(await sessionsOf(dibs)).toMatchObject([{ id: task.sessionId, tasks_held: 1 }]);
      expect(await task.complete({ by: task.content })).toMatchObject({
        status: "completed",
        result: { by: task.content },
      });
      done.push(task.content);
    }
    expect(done).toEqual(["b", "a", "c"]);
    expect(await sessionsOf(dibs)).toEqual([]);
  });

  test("takes only what its filters say, under the lease it asks for", async () => {
    await boss.createProject({ key: "web" });
    await boss.createTasks({
      tasks: [{ content: "a" }, { content: "b", labels: ["x"] }, { content: "c", project_id: "web", labels: ["x"] }],
    });
    const taken: unknown[] = [];
    for await (const task of dibs.work({ ...drain, labels: ["x"], project_id: "web", leaseSeconds: 600 })) {
      taken.push([task.content, task.record.lease_remaining_ms]);
      await task.complete();
    }
    expect(taken).toEqual([["c", 600_000]]);
  });

  test("several loops share a queue without doing a task twice (R15)", async () => {
    const tasks = Array.from({ length: 30 }, (_, at) => ({ content: `task ${at}` }));
    await boss.createTasks({ tasks });
    const done: string[] = [];
    const loop = async () => {
      for await (const task of dibs.work(drain)) {
        await task.complete();
        done.push(task.content);
      }
    };
    await Promise.all([loop(), loop(), loop()]);
    expect(done.sort()).toEqual(tasks.map(({ content }) => content).sort());
  });

  test("a failure counts as an attempt, a release leaves its note and doesn't (R18, R20)", async () => {
    const { id } = await boss.createTask({ content: "flaky", max_attempts: 2 });
    const seen: [number, string | null][] = [];
    for await (const task of dibs.work(drain)) {
      seen.push([task.record.attempts, task.record.handoff_note]);
      if (seen.length === 1) await task.release("look at the log first");
      else await task.fail("no network", { retry: true });
    }
    expect(seen.map(([, note]) => note)).toEqual([null, "look at the log first", expect.anything()]);
    expect(await boss.getTask({ task_id: id })).toMatchObject({ status: "failed", attempts: 2 });
  });

  test("an item the body doesn't settle fails as an attempt when it goes on, so that it can't go round for ever", async () => {
    const { id } = await boss.createTask({ content: "forgotten", max_attempts: 3 });
    let rounds = 0;
    for await (const _task of dibs.work(drain)) rounds++;
    expect(rounds).toBe(3);
    expect(await boss.getTask({ task_id: id })).toMatchObject({ status: "failed", attempts: 3 });
  });

  test.each([
    ["break", async () => undefined],
    ["a throw", () => Promise.reject(new Error("out"))],
  ])("leaving the loop by %s releases the item and ends the session", async (_how, leave) => {
    const { id } = await boss.createTask({ content: "left" });
    const run = async () => {
      for await (const _task of dibs.work()) {
        await leave();
        break;
      }
    };
    await run().catch((error) => expect(error.message).toBe("out"));
    expect(await boss.getTask({ task_id: id })).toMatchObject({ status: "open", ready: true });
    expect((await boss.getTask({ task_id: id })).handoff_note).toMatch(/left before/);
    expect(await sessionsOf(dibs)).toEqual([]);
  });

  test("a checkpoint reaches the next holder, and progress renews the lease", async () => {
    const clock = new ManualClock();
    await boss.createTask({ content: "long" });
    for await (const task of dibs.work({ clock })) {
      const kept = await task.progress({ progress: { page: 3 }, checkpoint: { page: 3 }, detail: "three of ten" });
      expect(kept).toMatchObject({ lease_id: task.record.lease_id, state_detail: "three of ten" });
      await task.release();
      break;
    }
    for await (const task of dibs.work()) {
      expect(task.record.checkpoint).toEqual({ page: 3 });
      await task.complete();
      break;
    }
  });
});

describe("an item's signal", () => {
  test("fires when the task is taken over, and what comes late is refused (R3)", async () => {
    const clock = new ManualClock();
    const { id } = await boss.createTask({ content: "contested" });
    for await (const task of dibs.work({ clock })) {
      const other = await boss.session();
      await other.claimTask({ task_id: id, takeover: true, reason: "urgent" });
      expect(task.signal.aborted).toBe(false);
      await clock.advance(100_000);
      await until(() => task.signal.aborted);
      expect(task.signal.reason).toBeInstanceOf(WorkStopped);
      expect(task.signal.reason).toMatchObject({ reason: "lease_lost", cause: { details: { reason: "revoked" } } });
      await expect(task.complete("late")).rejects.toMatchObject({
        code: "lease_lost",
        details: { reason: "revoked", holder: { agent_name: "boss" } },
      });
      break;
    }
    expect(await boss.getTask({ task_id: id })).toMatchObject({ status: "claimed", result: null });
  });

  test("fires on a cancel request; going on then releases, and the task is cancelled (R19)", async () => {
    const clock = new ManualClock();
    const { id } = await boss.createTask({ content: "unwanted" });
    const reasons: string[] = [];
    for await (const task of dibs.work({ ...drain, clock })) {
      await boss.cancelTask({ task_id: id, reason: "no longer needed" });
      await clock.advance(100_000);
      await until(() => task.signal.aborted);
      reasons.push((task.signal.reason as WorkStopped).reason);
    }
    expect(reasons).toEqual(["cancel_requested"]);
    expect(await boss.getTask({ task_id: id })).toMatchObject({ status: "cancelled" });
  });

  test("fires when the loop is to stop; the item is released and the loop ends", async () => {
    const stop = new AbortController();
    const { id } = await boss.createTask({ content: "interrupted" });
    for await (const task of dibs.work({ signal: stop.signal })) {
      stop.abort();
      expect(task.signal.reason).toMatchObject({ reason: "stopping" });
    }
    expect(await boss.getTask({ task_id: id })).toMatchObject({
      status: "open",
      handoff_note: expect.stringMatching(/stop/),
    });
    expect(await sessionsOf(dibs)).toEqual([]);
  });
});

describe("a loop that waits", () => {
  test("gets a task as soon as there is one, and ends at once when it is told to (R21)", async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const loop = (async () => {
      for await (const task of dibs.work({ waitSeconds: 60, signal: stop.signal })) {
        await task.complete();
        done.push(task.content);
      }
    })();
    await until(async () => (await sessionsOf(dibs)).length === 1);
    await boss.createTask({ content: "at last" });
    await until(() => done.length === 1);
    stop.abort();
    await loop;
    expect(done).toEqual(["at last"]);
    expect(await sessionsOf(dibs)).toEqual([]);
  });

  test("goes on in a new session when somebody ended its own", async () => {
    await boss.createTasks({ tasks: [{ content: "first" }, { content: "second" }] });
    const sessions = new Set<string>();
    for await (const task of dibs.work(drain)) {
      sessions.add(task.sessionId);
      await task.complete();
      if (sessions.size === 1) await dibs.endSession({ session_id: task.sessionId });
    }
    expect(sessions.size).toBe(2);
    expect(await boss.listTasks({ status: "completed" })).toHaveLength(2);
  });
});
