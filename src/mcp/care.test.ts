import { beforeEach, expect, test } from "vitest";
import type { Call, Caller, Operation } from "../contract/operation.js";
import { Care } from "./care.js";

const caller: Caller = { identity: { kind: "key", key: "k" } };
const inSession: Caller = { ...caller, sessionId: "s1" };
const notice = { id: "n1", type: "lease.lost", task_id: "t1", message: "gone" };

let nowMs = 0;
let asked: string[] = [];
let leases: number[] = [];
let implicit: string | undefined;
let fails = false;
let care: Care;

/** The seam's far end, as far as care asks it. */
const far = (operation: Operation) => {
  asked.push(operation.name);
  if (fails) throw new Error("unreachable");
  if (operation.name === "get_me") return { id: "me" };
  if (operation.name === "list_sessions") return implicit ? [{ id: implicit, implicit: true }] : [];
  if (operation.name === "get_session") return { notices: [notice] };
  return { notices: [], items: leases.map((lease_remaining_ms) => ({ outcome: "renewed", lease_remaining_ms })) };
};
const call = (async (operation: Operation) => ({
  body: far(operation),
  status: 200,
  notices: 0,
  serverNowMs: 0,
})) as Call;

beforeEach(() => {
  nowMs = 1_000_000;
  asked = [];
  leases = [300_000, 90_000];
  implicit = undefined;
  fails = false;
  care = new Care(call, () => nowMs);
});

const after = (who = inSession, notices = 0, leaseMs?: number) => care.after(who, { notices, leaseMs });

test("renews once past a third of the shortest lease, and not before (R61)", async () => {
  await after();
  expect(asked).toEqual(["heartbeat_session"]);
  nowMs += 29_999;
  await after();
  expect(asked).toHaveLength(1);
  nowMs += 1;
  await after();
  expect(asked).toHaveLength(2);
});

test("a lease claimed meanwhile that is shorter brings the next renewal forward (R61)", async () => {
  await after();
  await after(inSession, 0, 30_000);
  nowMs += 10_000;
  await after();
  expect(asked).toEqual(["heartbeat_session", "heartbeat_session"]);
});

test("a process that knows nothing of a session yet, as after a restart, renews at once (R61)", async () => {
  await after();
  await new Care(call, () => nowMs).after(inSession, { notices: 0 });
  expect(asked).toEqual(["heartbeat_session", "heartbeat_session"]);
});

test("calls that come together renew once", async () => {
  await Promise.all([after(), after(), after()]);
  expect(asked).toEqual(["heartbeat_session"]);
});

test("notices that wait are brought even when nothing is due (R54)", async () => {
  await after();
  expect(await after(inSession, 1)).toEqual([notice]);
  expect(await after(inSession, 0)).toEqual([]);
});

test("the session a key has without naming one is found once and renewed too (R13, R61)", async () => {
  implicit = "s9";
  await after(caller);
  await after(caller);
  expect(asked).toEqual(["get_me", "list_sessions", "heartbeat_session"]);
});

test("a key without any session is not asked for it again at every call", async () => {
  await after(caller);
  await after(caller);
  expect(asked).toEqual(["get_me", "list_sessions"]);
  nowMs += 10_000;
  await after(caller);
  expect(asked).toHaveLength(4);
});

test("a renewal that fails spoils no call, and is tried again at the next", async () => {
  fails = true;
  expect(await after()).toEqual([]);
  fails = false;
  await after();
  expect(asked).toEqual(["heartbeat_session", "heartbeat_session"]);
});
