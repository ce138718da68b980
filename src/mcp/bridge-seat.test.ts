import { beforeEach, expect, test } from "vitest";
import type { Call, Caller, Operation } from "../contract/operation.js";
import { BridgeSeat } from "./bridge-seat.js";

let asked: [operation: string, session: string | undefined][] = [];
let opened = 0;
let refuses = false;

/** The seam's far end, as far as a seat asks it. */
const call = (async (operation: Operation, _input: unknown, caller: Caller) => {
  asked.push([operation.name, caller.sessionId]);
  if (refuses) throw new Error("unreachable");
  if (operation.name === "open_session") opened += 1;
  return { body: { id: `s${opened}` } };
}) as unknown as Call;

const seat = (given?: string) => new BridgeSeat(call, { kind: "file", agent: "a" }, given);

beforeEach(() => {
  asked = [];
  opened = 0;
  refuses = false;
});

test("calls that come together share one session, opened at the first that needs it (R13)", async () => {
  const bridge = seat();
  expect(await bridge.session(false)).toBeUndefined();
  expect(await Promise.all([bridge.session(true), bridge.session(true), bridge.session(true)])).toEqual([
    "s1",
    "s1",
    "s1",
  ]);
  expect(await bridge.session(false)).toBe("s1");
  expect(opened).toBe(1);
});

test("a session that couldn't be opened is tried again at the next call", async () => {
  const bridge = seat();
  refuses = true;
  await expect(bridge.session(true)).rejects.toThrow("unreachable");
  refuses = false;
  expect(await bridge.session(true)).toBe("s1");
});

test("its sign of life renews no lease: an agent that stopped working loses what it held", async () => {
  const bridge = seat();
  await bridge.stayAlive();
  expect(asked).toEqual([]);
  await bridge.session(true);
  await bridge.stayAlive();
  expect(asked.at(-1)).toEqual(["get_session", "s1"]);
});

test("leaving ends the session opened here, even one that is just being opened, and no other (R10)", async () => {
  const bridge = seat();
  const opening = bridge.session(true);
  await bridge.leave();
  await opening;
  expect(asked).toEqual([
    ["open_session", undefined],
    ["end_session", "s1"],
  ]);
  asked = [];
  const guest = seat("given");
  expect(await guest.session(true)).toBe("given");
  await guest.leave();
  expect(asked).toEqual([]);
});

test("leaving never throws: an unreachable server must not keep a bridge", async () => {
  const bridge = seat();
  await bridge.session(true);
  refuses = true;
  await expect(bridge.leave()).resolves.toBeUndefined();
});

test("a lease is remembered for the session it was given to, until that session ends (R3)", async () => {
  const bridge = seat();
  bridge.claimed("t1", "l1", "s1");
  bridge.claimed("t2", "l2", "s2");
  expect(bridge.leaseOf("t1", "s1")).toBe("l1");
  expect(bridge.leaseOf("t1", "s2")).toBeUndefined();
  bridge.ended("s1");
  expect(bridge.leaseOf("t1", "s1")).toBeUndefined();
  expect(bridge.leaseOf("t2", "s2")).toBe("l2");
});
