import { Dibs, type WorkStopped } from "dibs/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { DibsError } from "../src/contract/errors.js";
import { type Actor, FreshStore } from "./support/fresh-store.js";
import { ManualClock } from "./support/manual-clock.js";
import { StubHttp } from "./support/stub-http.js";

/** Field report here: C46, the client's half of it. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE_MS = 15 * MINUTE;
const BEAT_MS = 10_000;

type Item = Awaited<ReturnType<ReturnType<Dibs["work"]>["next"]>>["value"] & object;

/** Ann's work loop over HTTP with a task in hand, and Ben and the boss, whose sessions outlive a laptop's sleep. */
async function atWork({ reclaims = true, sessionSeconds = 900 } = {}) {
  const fresh = await FreshStore.open();
  const http = await StubHttp.start({
    async answer({ operation, input, caller }) {
      try {
        return await fresh.store.callText(operation, input as never, caller);
      } catch (refusal) {
        // The built store's class of errors is not the one of the surface's source.
        throw DibsError.fromProblem((refusal as DibsError).toProblem());
      }
    },
  });
  onTestFinished(() => http[Symbol.asyncDispose]());
  /** What the loop was answered: the end of the path and the status. */
  const answers: string[] = [];
  const key = (await fresh.ask("create_agent", { name: "ann", role: "worker" }, fresh.root)).key;
  const lasting = async (actor: Actor) => fresh.session(actor, { ttl_seconds: 86_400 });
  const [ben, boss] = [await lasting(await fresh.agent("ben")), await lasting(await fresh.agent("boss", "admin"))];
  const { id } = await fresh.task();
  const clock = new WalledClock();
  const regained: [lost: number, now: number][] = [];
  const dibs = new Dibs({
    url: `http://127.0.0.1:${http.port}`,
    key,
    retry: { attempts: 1 },
    async fetch(...request) {
      const answer = await fetch(...request);
      const text = await answer.text();
      answers.push(`${String(request[0]).split("/").pop()} ${answer.status}`);
      return new Response(text, answer);
    },
  });
  const loop = dibs.work({
    clock,
    leaseSeconds: LEASE_MS / 1000,
    stopWhenEmpty: true,
    session: { client: "test", ttl_seconds: sessionSeconds },
    ...(reclaims ? { reclaimExpired: (now, lost) => regained.push([lost.fence, now.record.fence]) } : {}),
  });
  const item = (await loop.next()).value as Item;
  const stopped = () => (item.signal.aborted ? (item.signal.reason as WorkStopped) : undefined);
  /** The next heartbeat, and what follows from it. */
  const beat = async () => {
    const [before, had] = [answers.length, regained.length];
    await clock.advance(BEAT_MS);
    const renewed = () => answers.slice(before).includes("heartbeat 200");
    await until(() => renewed() || regained.length > had || item.signal.aborted);
    await tick();
  };
  const claims = async () => (await fresh.history(id)).filter((type) => type === "task.claimed").length;
  const openSessions = async () =>
    (await fresh.ask("list_sessions", {}, boss)).filter(({ client }) => client === "test").length;
  const identity = { kind: "key", key } as const;
  return {
    fresh,
    http,
    answers,
    identity,
    ben,
    boss,
    id,
    clock,
    regained,
    loop,
    item,
    stopped,
    beat,
    claims,
    openSessions,
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

async function until(done: () => boolean): Promise<void> {
  while (!done()) await tick();
}

/** A clock that, as on Linux, shows a sleep in its wall time alone. */
class WalledClock extends ManualClock {
  sleptMs = 0;
  wallMs = (): number => this.nowMs() + this.sleptMs;
}

describe("C46: a laptop sleeps, its monotonic clock stands still", () => {
  test("past lease and session: the task is claimed again in a new session, and delivered under the new fence", async () => {
    const at = await atWork();
    const before = { session: at.item.sessionId, lease: at.item.record.lease_id };
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    expect(at.regained).toEqual([[1, 2]]);
    expect(at.stopped()).toBeUndefined();
    expect(at.item.record.lease_id).not.toBe(before.lease);
    expect(at.item.sessionId).not.toBe(before.session);
    await at.beat();
    expect(await at.item.complete("done")).toMatchObject({ status: "completed", result: "done", fence: 2 });
    expect((await at.loop.next()).done).toBe(true);
    expect(await at.openSessions()).toBe(0);
    expect(at.regained).toHaveLength(1);
  });

  test("its waking is noticed within 5 s by the wall clock, before the next heartbeat is due", async () => {
    const at = await atWork();
    at.fresh.time.sleep(2 * HOUR);
    at.clock.sleptMs += 2 * HOUR;
    await at.clock.advance(5_000);
    await until(() => at.regained.length > 0);
    expect(at.stopped()).toBeUndefined();
  });

  test("past the lease alone: claimed again in the same session", async () => {
    const at = await atWork({ sessionSeconds: 86_400 });
    const before = at.item.sessionId;
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    expect(at.regained).toEqual([[1, 2]]);
    expect(at.item.sessionId).toBe(before);
    expect(await at.item.release("to be gone on with")).toMatchObject({ status: "open", fence: 2 });
  });

  test("and somebody else claimed it meanwhile: the signal fires, and says who holds it", async () => {
    const at = await atWork();
    at.fresh.time.sleep(20 * MINUTE);
    await at.fresh.claim(at.id, at.ben, { lease_seconds: 3_600 });
    at.fresh.time.sleep(20 * MINUTE);
    await at.beat();
    expect(at.stopped()).toMatchObject({ reason: "lease_lost", cause: { code: "task_claimed" } });
    expect(at.stopped()).toHaveProperty("cause.message", expect.stringContaining("is held by ben"));
    expect(at.regained).toEqual([]);
    // The session that was opened to ask is ended, too.
    await until(() => at.answers.filter((answer) => answer === "end 200").length === 1);
    expect(await at.openSessions()).toBe(0);
    expect(await at.fresh.read(at.id)).toMatchObject({ status: "claimed", fence: 2 });
  });

  test("for less than the lease: the same lease goes on", async () => {
    const at = await atWork();
    at.fresh.time.sleep(5 * MINUTE);
    await at.beat();
    expect(at.stopped()).toBeUndefined();
    expect(at.regained).toEqual([]);
    expect(await at.item.complete()).toMatchObject({ status: "completed", fence: 1 });
    expect(await at.claims()).toBe(1);
  });

  test("and what is finished before the next heartbeat is delivered under a lease claimed again", async () => {
    const at = await atWork();
    at.fresh.time.sleep(2 * HOUR);
    expect(await at.item.complete("late but whole")).toMatchObject({ result: "late but whole", fence: 2 });
    expect(at.regained).toEqual([[1, 2]]);
  });

  test("twice: the second time is claimed again only if a heartbeat got through in between", async () => {
    const at = await atWork();
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    await at.beat();
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    expect(at.regained).toEqual([
      [1, 2],
      [2, 3],
    ]);
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    expect(at.stopped()).toMatchObject({ reason: "lease_lost" });
    expect(await at.claims()).toBe(3);
  });
});

describe("C46: the monotonic clock goes on while the process stands still", () => {
  test("past its deadline: the server is asked first, and the task is claimed again", async () => {
    const at = await atWork();
    at.fresh.time.pass(2 * HOUR);
    at.clock.jump(2 * HOUR);
    await at.clock.advance(0);
    await until(() => at.regained.length > 0 || at.item.signal.aborted);
    await tick();
    expect(at.regained).toEqual([[1, 2]]);
    expect(at.stopped()).toBeUndefined();
    expect(await at.item.complete()).toMatchObject({ fence: 2 });
  });

  test("and the server can't be reached afterwards: the work is stopped all the same", async () => {
    const at = await atWork();
    await at.http[Symbol.asyncDispose]();
    at.clock.jump(2 * HOUR);
    await at.clock.advance(0);
    await until(() => at.item.signal.aborted);
    expect(at.stopped()).toMatchObject({ reason: "lease_unknown" });
  });
});

describe("a lease that ended by anything but the clock is not claimed again", () => {
  type Work = Awaited<ReturnType<typeof atWork>>;
  const reason = "urgent";
  const forced = (at: Work) => at.fresh.ask("force_release_task", { task_id: at.id, reason }, at.boss);
  const ended = (at: Work) => at.fresh.ask("end_session", { session_id: at.item.sessionId }, { identity: at.identity });
  const cases: Record<string, (at: Work) => Promise<unknown>> = {
    "it was force-released": forced,
    "it was force-released, and then the session fell silent": async (at) => {
      await forced(at);
      at.fresh.time.sleep(2 * HOUR);
    },
    "it was taken over and given back": async (at) => {
      await at.fresh.claim(at.id, at.boss, { takeover: true, reason });
      await at.fresh.ask("release_task", { task_id: at.id }, at.boss);
    },
    "somebody ended the session": ended,
    "somebody ended the session after the clock ended the lease": async (at) => {
      at.fresh.time.sleep(LEASE_MS);
      await ended(at);
    },
    "it was to be cancelled when the clock ended it": async (at) => {
      await at.fresh.ask("cancel_task", { task_id: at.id, reason }, at.boss);
      at.fresh.time.sleep(2 * HOUR);
    },
    "somebody finished it after the clock ended it": async (at) => {
      at.fresh.time.sleep(2 * HOUR);
      await at.fresh.claim(at.id, at.ben);
      await at.fresh.ask("complete_task", { task_id: at.id }, at.ben);
    },
  };
  test.each(Object.entries(cases))("%s", async (_what, happen) => {
    const at = await atWork({ sessionSeconds: 3_600 });
    await happen(at);
    const claims = await at.claims();
    await at.beat();
    expect(at.stopped()).toMatchObject({ reason: "lease_lost" });
    expect(at.regained).toEqual([]);
    expect(await at.claims()).toBe(claims);
  });

  test("held by another in between, who gave it back: it stays where that one left it, with the note", async () => {
    const at = await atWork();
    at.fresh.time.sleep(2 * HOUR);
    await at.fresh.claim(at.id, at.ben);
    await at.fresh.ask("release_task", { task_id: at.id, handoff: "half of it is on main" }, at.ben);
    const { attempts } = await at.fresh.read(at.id);
    await at.beat();
    expect(at.stopped()).toMatchObject({ reason: "lease_lost", cause: { code: "lease_lost" } });
    expect(at.regained).toEqual([]);
    const left = { status: "open", handoff_note: "half of it is on main", attempts };
    expect(await at.fresh.read(at.id)).toMatchObject(left);
  });

  test("nor one of a loop that didn't ask for it: code that runs on learns that it has no lease", async () => {
    const at = await atWork({ reclaims: false });
    at.fresh.time.sleep(2 * HOUR);
    await at.beat();
    expect(at.stopped()).toMatchObject({ reason: "lease_lost" });
    expect(await at.claims()).toBe(1);
  });
});
