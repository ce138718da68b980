import { beforeEach, describe, expect, test } from "vitest";
import { Admission, type Connection, TooMany } from "./admission.js";
import type { Credential } from "./settings.js";

let nowMs: number;
let admission: Admission;
const HOME: Connection = { remoteAddress: "127.0.0.1" };
const key = (text: string): Credential => ({ kind: "key", key: text });

beforeEach(() => {
  nowMs = 1000;
  admission = new Admission({ rateLimitPerSecond: 10, rateBurst: 20 }, () => nowMs);
});

function refusal(work: () => void): TooMany | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof TooMany) return thrown;
    throw thrown;
  }
}

/** How many of `count` calls are let in at this instant. */
function admitted(count: number, credential: Credential, { heartbeat = false, connection = HOME } = {}): number {
  let let_in = 0;
  for (let call = 0; call < count; call += 1) {
    if (!refusal(() => admission.enter(credential, connection, heartbeat ? "heartbeat" : "call"))) let_in += 1;
  }
  return let_in;
}

/** Presents wrong keys, each a different one, until `count` were judged. */
function failWithDifferentKeys(count: number): void {
  for (let call = 0; call < count; call += 1) {
    const credential = key(`wrong-${call}-${nowMs}`);
    if (!refusal(() => admission.rejected(admission.enter(credential, HOME, "call"), HOME))) continue;
  }
}

describe("the limit of calls (R49)", () => {
  test("lets a burst in, then the steady rate, and refuses with the setting's name and when to come again", () => {
    expect(admitted(100, key("a"))).toBe(20);
    const refused = refusal(() => admission.enter(key("a"), HOME, "call"));
    expect(refused).toMatchObject({
      code: "rate_limited",
      details: { setting: "DIBS_RATE_LIMIT", limit: 10 },
      retryAfterSeconds: 1,
    });
    expect(refused?.message).toContain("DIBS_RATE_LIMIT");
    nowMs += 1000;
    expect(admitted(100, key("a"))).toBe(10);
  });

  test("counts each key and each cookie on its own", () => {
    expect(admitted(100, key("a"))).toBe(20);
    expect(admitted(100, key("b"))).toBe(20);
    expect(admitted(100, { kind: "cookie", token: "a" })).toBe(20);
  });

  test("counts a key on its own connections and on one it shares alike", () => {
    const shared: Connection = { remoteAddress: "127.0.0.1" };
    for (const name of ["a", "b"]) admission.accepted(admission.enter(key(name), { remoteAddress: "::1" }, "call"));
    let let_in = 0;
    for (let call = 0; call < 100; call += 1) {
      for (const name of ["a", "a", "b"]) let_in += admitted(1, key(name), { connection: shared });
    }
    expect(let_in).toBe(19 + 19);
    expect(admitted(100, key("a"), { connection: { remoteAddress: "192.0.2.1" } })).toBe(0);
  });

  test("counts heartbeats apart, so that a limit never makes leases lapse", () => {
    expect(admitted(100, key("a"))).toBe(20);
    expect(admitted(100, key("a"), { heartbeat: true })).toBe(20);
  });

  test("lets in what only its body tells while either limit has room, and counts nothing before it is told", () => {
    const late = () => admission.enter(key("a"), HOME, "by body");
    for (let call = 0; call < 100; call += 1) late();
    expect(admitted(100, key("a"))).toBe(20);
    const visitor = late();
    expect(refusal(() => admission.count(visitor, "call"))).toBeInstanceOf(TooMany);
    for (let call = 0; call < 20; call += 1) admission.count(visitor, "heartbeat");
    expect(refusal(() => admission.count(visitor, "heartbeat"))).toBeInstanceOf(TooMany);
    expect(refusal(late)).toMatchObject({ details: { setting: "DIBS_RATE_LIMIT" }, retryAfterSeconds: 1 });
  });

  test("a long rest gives no more than the burst", () => {
    admitted(100, key("a"));
    nowMs += 3_600_000;
    expect(admitted(100, key("a"))).toBe(20);
  });
});

describe("wrong keys", () => {
  test("are limited by client address, however many different ones come", () => {
    failWithDifferentKeys(100);
    expect(refusal(() => admission.enter(key("another"), HOME, "call"))?.message).toMatch(
      /keys or codes that are not valid/,
    );
    expect(refusal(() => admission.enter(key("another"), { remoteAddress: "192.0.2.1" }, "call"))).toBeUndefined();
    nowMs += 1000;
    expect(refusal(() => admission.enter(key("another"), HOME, "call"))).toBeUndefined();
  });

  test("never lock out a key that is known to be good", () => {
    admission.accepted(admission.enter(key("good"), HOME, "call"));
    failWithDifferentKeys(500);
    expect(admitted(1, key("good"))).toBe(1);
  });

  test("one that keeps coming is limited alone: a program with a wrong key stops nobody beside it", () => {
    for (let call = 0; call < 1000; call += 1) {
      refusal(() => admission.rejected(admission.enter(key("stale"), HOME, "call"), HOME));
    }
    expect(refusal(() => admission.enter(key("stale"), HOME, "call"))).toBeInstanceOf(TooMany);
    expect(refusal(() => admission.enter(key("stale"), HOME, "heartbeat"))).toBeInstanceOf(TooMany);
    expect(admitted(1, key("new and good"))).toBe(1);
  });

  test("a key that was revoked and is given back has its full rights again", () => {
    const visitor = admission.enter(key("a"), HOME, "call");
    admission.rejected(visitor, HOME);
    admission.accepted(visitor);
    expect(admitted(100, key("a"))).toBe(20);
  });

  test("many good newcomers at one instant are no failures", () => {
    for (let agent = 0; agent < 500; agent += 1) expect(admitted(1, key(`agent-${agent}`))).toBe(1);
  });
});

test("what is remembered is bounded, and who was seen lately is not forgotten", () => {
  admission = new Admission({ rateLimitPerSecond: 10, rateBurst: 20 }, () => nowMs, 100);
  admitted(20, key("busy"));
  for (let agent = 0; agent < 5000; agent += 1) {
    admitted(1, key(`agent-${agent}`));
    if (agent % 20 === 0) expect(admitted(1, key("busy"))).toBe(0);
  }
});
