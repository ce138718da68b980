import { describe, expect, test } from "vitest";
import { Lane, type Queued } from "./lane.js";
import type { EngineCall, Outcome } from "./outcome.js";

const call = (name: string) => ({ name, input: {}, caller: {} }) as unknown as EngineCall;
const outcome = (text: string): Outcome => ({ ok: true, status: 200, text, notices: 0, nowMs: 1 });

/** A lane whose batches are done when the test says so. */
function lane(options: { woke?: () => Promise<void> | undefined; first?: () => Queued[] } = {}) {
  const batches: { names: string[]; done: (fault?: Error) => void }[] = [];
  const run = (calls: readonly EngineCall[]) =>
    new Promise<{ outcomes: Outcome[]; woke: boolean }>((resolve, reject) => {
      const names = calls.map((each) => each.name);
      const done = (fault?: Error) => (fault ? reject(fault) : resolve({ outcomes: names.map(outcome), woke: true }));
      batches.push({ names, done });
    });
  const made = new Lane(run, options.woke ?? (() => undefined), () => 1, options.first);
  return { lane: made, batches };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async () => {
  for (let n = 0; n < 4; n += 1) await turn();
};

describe("a lane (R55)", () => {
  test("takes what came in one turn together; what comes while it is under way goes as the next batch, in order", async () => {
    const { lane: it, batches } = lane();
    const first = it.submit(call("a"));
    void it.submit(call("b"));
    await turns();
    for (const name of ["c", "d", "e"]) void it.submit(call(name));
    await turns();
    expect(batches.map((batch) => batch.names)).toEqual([["a", "b"]]);
    batches[0]?.done();
    expect(await first).toMatchObject({ text: "a" });
    await turns();
    expect(batches[1]?.names).toEqual(["c", "d", "e"]);
  });

  test("bounds a batch, and forgets nobody", async () => {
    const { lane: it, batches } = lane();
    const all = Array.from({ length: 600 }, (_, n) => it.submit(call(`${n}`)));
    for (let n = 0; n < 3; n += 1) {
      await turns();
      batches[n]?.done();
    }
    expect(batches.map((batch) => batch.names.length)).toEqual([256, 256, 88]);
    expect((await Promise.all(all)).map((each) => (each.ok ? each.text : ""))).toEqual(all.map((_, n) => `${n}`));
  });

  test("a batch that fails fails its own calls, not the next", async () => {
    const { lane: it, batches } = lane();
    const lost = it.submit(call("a"));
    await turns();
    const next = it.submit(call("b"));
    batches[0]?.done(new Error("the thread has ended"));
    await expect(lost).rejects.toThrow("the thread has ended");
    await turns();
    batches[1]?.done();
    expect(await next).toMatchObject({ text: "b" });
  });

  test("calls that go first stand at the head of the next batch, which a kick alone brings about", async () => {
    const got: string[] = [];
    let due = ["x", "y"];
    const first = () => {
      const taken = due.map((name) => ({
        call: call(name),
        resolve: (each: Outcome) => void got.push(each.ok ? each.text : ""),
        reject: () => {},
      }));
      due = [];
      return taken;
    };
    const { lane: it, batches } = lane({ first });
    void it.submit(call("a"));
    await turns();
    expect(batches[0]?.names).toEqual(["x", "y", "a"]);
    due = ["z"];
    it.kick();
    batches[0]?.done();
    await turns();
    expect(got).toEqual(["x", "y"]);
    expect(batches[1]?.names).toEqual(["z"]);
  });

  test("the next batch goes when those who were woken have been told", async () => {
    let told: () => void = () => {};
    const { lane: it, batches } = lane({ woke: () => new Promise((resolve) => (told = resolve)) });
    void it.submit(call("a"));
    await turns();
    void it.submit(call("b"));
    batches[0]?.done();
    await turns();
    expect(batches).toHaveLength(1);
    told();
    await turns();
    expect(batches).toHaveLength(2);
  });
});
