import { describe, expect, test, vi } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.js";
import { DibsError } from "../contract/errors.js";
import { type HeldLease, LeaseKeeper } from "./lease-keeper.js";

const LEASE_MS = 30_000;
const MARGIN_MS = 1_000;
const lost = () => new DibsError("lease_lost", "gone", { reason: "superseded", next: [] });
const unreachable = () => new DibsError("store_unavailable", "no way", {});
const held = (over: Partial<HeldLease> = {}): HeldLease => ({
  lease_remaining_ms: LEASE_MS,
  cancel_requested: false,
  ...over,
});

/** What is aborted with its signal and never answers by itself. */
const hang = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

type Reclaim = (loss: unknown, signal: AbortSignal) => Promise<HeldLease>;

/** A keeper whose heartbeats answer as `beat` says; `sent` has the time of each. */
function keeperOf(beat: (nth: number, signal: AbortSignal) => Promise<HeldLease>, reclaim?: Reclaim) {
  const clock = new ManualClock();
  const sent: number[] = [];
  const startMs = clock.nowMs();
  const keeper = new LeaseKeeper({
    clock,
    beat: (_fields, signal) => {
      sent.push(clock.nowMs() - startMs);
      return beat(sent.length, signal);
    },
    marginMs: () => MARGIN_MS,
    reclaim,
  });
  return { clock, keeper, sent, startMs };
}

/** A keeper whose every heartbeat finds the lease lost, and whose task can be had again. */
function lostAndHadAgain() {
  const reclaim = vi.fn(async () => held());
  return { ...keeperOf(() => Promise.reject(lost()), reclaim), reclaim };
}

describe("a kept lease", () => {
  test("is renewed at each third of its length", async () => {
    const { clock, keeper, sent } = keeperOf(async () => held());
    await keeper.start(clock.nowMs(), held());
    await clock.advance(3 * LEASE_MS);
    expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((third) => (third * LEASE_MS) / 3));
    expect(keeper.signal.aborted).toBe(false);
  });

  test("is renewed every 10 s however long it is, so that a takeover or a cancel request is known by then", async () => {
    const long = held({ lease_remaining_ms: 3_600_000 });
    const { clock, keeper, sent } = keeperOf(async (nth) => (nth < 3 ? long : Promise.reject(lost())));
    await keeper.start(clock.nowMs(), long);
    await clock.advance(30_000);
    expect(sent).toEqual([10_000, 20_000, 30_000]);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_lost" });
  });

  test("is believed held from before the request was sent, not from when the answer came", async () => {
    const { clock, keeper, startMs } = keeperOf(() => Promise.reject(unreachable()));
    await clock.advance(5_000);
    await keeper.start(startMs, held());
    await clock.advance(LEASE_MS - MARGIN_MS - 5_000 - 1);
    expect(keeper.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(keeper.signal.reason).toMatchObject({ name: "WorkStopped", reason: "lease_unknown" });
  });

  test("outlives heartbeats that fail on the way, as long as one gets through before the deadline", async () => {
    const { clock, keeper, sent } = keeperOf(async (nth) => (nth < 4 ? Promise.reject(unreachable()) : held()));
    await keeper.start(clock.nowMs(), held());
    await clock.advance(LEASE_MS + 5_000);
    expect(sent.slice(0, 5)).toEqual([10_000, 12_500, 15_000, 17_500, 27_500]);
    expect(keeper.signal.aborted).toBe(false);
  });

  test("a heartbeat that hangs is given up after its interval and sent again", async () => {
    const { clock, keeper, sent } = keeperOf((nth, signal) => (nth === 1 ? hang(signal) : Promise.resolve(held())));
    await keeper.start(clock.nowMs(), held());
    await clock.advance(LEASE_MS);
    expect(sent.slice(0, 2)).toEqual([10_000, 22_500]);
    expect(keeper.signal.aborted).toBe(false);
  });

  test("the server's word that it is lost fires the signal at once and ends the heartbeats", async () => {
    const { clock, keeper, sent } = keeperOf(() => Promise.reject(lost()));
    await keeper.start(clock.nowMs(), held());
    await clock.advance(10_000);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_lost", cause: { code: "lease_lost" } });
    await clock.advance(LEASE_MS);
    expect(sent).toHaveLength(1);
    expect(clock.timersSet).toBe(0);
  });

  test("a cancel request fires the signal, but the lease is kept until it is settled (R19)", async () => {
    const { clock, keeper, sent } = keeperOf(async () => held({ cancel_requested: true }));
    await keeper.start(clock.nowMs(), held());
    await clock.advance(10_000);
    expect(keeper.signal.reason).toMatchObject({ reason: "cancel_requested" });
    await clock.advance(10_000);
    expect(sent).toHaveLength(2);
    await keeper.settle(async () => undefined);
    expect(clock.timersSet).toBe(0);
  });

  test("a process that was stopped for longer than the lease is told so as soon as it goes on", async () => {
    const { clock, keeper } = keeperOf(() => new Promise<never>(() => undefined));
    await keeper.start(clock.nowMs(), held());
    clock.jump(LEASE_MS);
    await clock.advance(0);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_unknown" });
  });
});

describe("a lost lease that may be claimed again", () => {
  test("is kept on as the new one", async () => {
    const { clock, keeper, sent } = keeperOf(
      async (nth) => (nth === 1 ? Promise.reject(lost()) : held()),
      async () => held(),
    );
    await keeper.start(clock.nowMs(), held());
    await clock.advance(2 * LEASE_MS);
    expect(sent).toHaveLength(6);
    expect(keeper.signal.aborted).toBe(false);
  });

  test("is given up when that takes 10 s, since the work goes on without a lease meanwhile", async () => {
    const { clock, keeper } = keeperOf(
      () => Promise.reject(lost()),
      (_loss, signal) => hang(signal),
    );
    await keeper.start(clock.nowMs(), held());
    await clock.advance(LEASE_MS / 3 + 9_999);
    expect(keeper.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_lost", cause: { details: { reason: "superseded" } } });
    expect(clock.timersSet).toBe(0);
  });

  test("is claimed once, however many heartbeats find it lost, and again only after one got through", async () => {
    const { clock, keeper, reclaim } = lostAndHadAgain();
    await keeper.start(clock.nowMs(), held());
    const together = [keeper.beat({}), keeper.beat({}), clock.advance(LEASE_MS / 3)];
    await Promise.allSettled(together);
    expect(reclaim).toHaveBeenCalledTimes(1);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_lost" });
    expect(clock.timersSet).toBe(0);
  });

  test("is not, once the holder was told to stop", async () => {
    const { clock, keeper, reclaim } = lostAndHadAgain();
    await keeper.start(clock.nowMs(), held());
    keeper.abort("stopping");
    await clock.advance(LEASE_MS);
    expect(reclaim).not.toHaveBeenCalled();
  });

  test("whose deadline passed while the process stood still is asked for first, for 10 s at most", async () => {
    const { clock, keeper } = keeperOf(
      (_nth, signal) => hang(signal),
      () => Promise.reject(lost()),
    );
    await keeper.start(clock.nowMs(), held());
    clock.jump(10 * LEASE_MS);
    await clock.advance(9_999);
    expect(keeper.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_unknown" });
  });

  test("whose deadline passed while the server couldn't be reached is given up on time", async () => {
    const { clock, keeper } = keeperOf(
      () => Promise.reject(unreachable()),
      async () => held(),
    );
    await keeper.start(clock.nowMs(), held());
    await clock.advance(LEASE_MS - MARGIN_MS);
    expect(keeper.signal.reason).toMatchObject({ reason: "lease_unknown" });
  });
});

describe("a lease whose claim had to wait", () => {
  test("is confirmed by a heartbeat before anybody works on it", async () => {
    const { clock, keeper, sent, startMs } = keeperOf(async () => held());
    await clock.advance(60_000);
    expect(await keeper.start(startMs, held())).toBe(true);
    expect(sent).toEqual([60_000]);
    await clock.advance(LEASE_MS);
    expect(keeper.signal.aborted).toBe(false);
  });

  test("is not handed out when that heartbeat says it is lost", async () => {
    const { clock, keeper, startMs } = keeperOf(() => Promise.reject(lost()));
    await clock.advance(60_000);
    expect(await keeper.start(startMs, held())).toBe(false);
  });
});

describe("settling", () => {
  test("a heartbeat that crosses it and finds the lease ended fires nothing", async () => {
    const { clock, keeper } = keeperOf(() => Promise.reject(lost()));
    await keeper.start(clock.nowMs(), held());
    let finish: (() => void) | undefined;
    const settling = keeper.settle(() => new Promise<void>((resolve) => (finish = resolve)));
    await clock.advance(10_000);
    finish?.();
    await settling;
    expect(keeper.signal.aborted).toBe(false);
    expect(clock.timersSet).toBe(0);
  });

  test("that fails on the way keeps the lease, so that it can be tried again", async () => {
    const { clock, keeper, sent } = keeperOf(async () => held());
    await keeper.start(clock.nowMs(), held());
    await expect(keeper.settle(() => Promise.reject(unreachable()))).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await clock.advance(10_000);
    expect(sent).toHaveLength(1);
    expect(keeper.signal.aborted).toBe(false);
  });
});
