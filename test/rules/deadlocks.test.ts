import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, line } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, line } = await lineScene());
});

describe("who would wait for each other (R37)", () => {
  test("C06: is refused by the cycle, spelled out, over any number", async () => {
    await claim(ann, ["path:a"]);
    await claim(ben, ["path:b"]);
    await claim(cat, ["port:1"]);
    await wait(ann, ["path:b"]);
    await wait(ben, ["port:1"]);
    const cycle = await refused(cat, ["path:a/x"], { wait: true });
    expect(cycle.code).toBe("would_deadlock");
    expect(cycle.cycle).toMatchObject([
      { agent_name: "cat", waits_for: "path:a/x", holder: { agent_name: "ann", scope: "path:a" } },
      { agent_name: "ann", waits_for: "path:b", holder: { agent_name: "ben", scope: "path:b" } },
      { agent_name: "ben", waits_for: "port:1", holder: { agent_name: "cat", scope: "port:1" } },
    ]);
    expect(cycle.message).toContain("cat would wait for path:a/x");
    expect(await line()).toHaveLength(2);
    // Without waiting it is an ordinary conflict, which doesn't offer what would be refused.
    const conflict = await refused(cat, ["path:a/x"]);
    expect(conflict.code).toBe("scope_conflict");
    expect(JSON.stringify(conflict.next)).not.toContain("wait: true");
    expect(JSON.stringify(conflict.next)).toContain("Release what others wait for");
    expect(JSON.stringify((await refused(dan, ["path:a/x"])).next)).toContain("wait: true; you would be number 1");
  });

  test("is seen, too, where it is closed by whom the new one would be before", async () => {
    await claim(ann, ["path:p"]);
    await claim(dan, ["path:q"]);
    await wait(cat, ["path:q", "path:r"]);
    await wait(ann, ["path:q"]);
    const urgent = await refused(ben, ["path:p", "path:r"], { wait: true, priority: 4 });
    expect(urgent.code).toBe("would_deadlock");
    expect(urgent.cycle).toMatchObject([
      { agent_name: "ben", waits_for: "path:p", holder: { agent_name: "ann", scope: "path:p" } },
      { agent_name: "ann", waits_for: "path:q", holder: { agent_name: "cat", scope: "path:q" } },
      { agent_name: "cat", waits_for: "path:r", holder: { agent_name: "ben", scope: "path:r" } },
    ]);
    // Behind cat nobody waits for it.
    await wait(ben, ["path:p", "path:r"]);
    await release(dan, "path:q");
    expect(await line()).toEqual(["cat offered", "ann waiting", "ben waiting"]);
  });

  test("is seen where a child asks for its parent's task: the parent would wait", async () => {
    const main = await fresh.session(ben, { share_with_children: true });
    const child = await fresh.session(main, { parent_session_id: main.sessionId });
    await claim(ann, ["path:x"]);
    await claim(main, ["path:p"]);
    await wait(ann, ["path:p"]);
    const { id: task_id } = await fresh.task();
    await fresh.claim(task_id, main);
    const refusal = await refused(child, ["path:x"], { wait: true, task_id });
    expect(refusal.code).toBe("would_deadlock");
    expect(refusal.cycle).toMatchObject([{ session_id: main.sessionId }, { holder: { session_id: main.sessionId } }]);
  });

  test("is seen where it goes through what is kept for a task that starved (R16)", async () => {
    await claim(ann, ["path:a/b"], { ttl_seconds: 3600 });
    await fresh.task({ content: "wide", scopes: ["path:a/d"] });
    // ben waits for ann, and the task for ben's turn.
    await wait(ben, ["path:a"]);
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(600_000);
    expect(await fresh.next(cat)).toBeNull();
    const refusal = await refused(ann, ["path:a/d"], { wait: true });
    expect(refusal.code).toBe("would_deadlock");
    expect(refusal.message).toContain('as what is kept for task "wide" is before it in line for path:a/d');
    expect(refusal.cycle).toMatchObject([
      { agent_name: "ann", holder: { session_id: "", intent: "wide" } },
      { agent_name: "", session_id: "", ticket: null, holder: { agent_name: "ben" } },
      { agent_name: "ben", holder: { agent_name: "ann", scope: "path:a/b" } },
    ]);
    // Who waits behind it and holds nothing of it has its turn.
    await wait(dan, ["path:a/d"]);
    await release(ann, "path:a/b");
    expect(await line()).toEqual(["ben offered", "dan waiting"]);
  });

  test("isn't so for who holds what somebody before it in line waits for: it passes that one", async () => {
    await claim(ann, ["path:a"]);
    await wait(ben, ["path:a", "path:b"]);
    expect((await refused(cat, ["path:b"])).code).toBe("scope_conflict");
    expect((await claim(ann, ["path:b"])).claims).toMatchObject([{ scope: "path:b" }]);
    await fresh.ask("release_scopes", { all: true }, ann);
    expect(await line()).toEqual(["ben offered"]);
  });

  test("nor is anybody passed for whom the one who passes waits itself", async () => {
    await claim(ann, ["path:a"]);
    await claim(ben, ["path:z"]);
    await wait(ben, ["path:y", "path:a"]);
    // ann waits for ben; to let ann have y would make ben wait for ann, and both for ever.
    expect((await refused(ann, ["path:z"], { wait: true })).code).toBe("would_deadlock");
  });

  test("isn't so for who stands behind one that stands behind it: it passes that one as soon as its turn has come", async () => {
    await claim(dan, ["path:a"]);
    await wait(ann, ["path:a"]);
    await wait(ben, ["path:a/x"]);
    await wait(ann, ["path:a/x/y"]);
    await release(dan, "path:a");
    expect(await line()).toEqual(["ann offered", "ben waiting", "ann offered"]);
  });

  test("nor where that one stands behind it over others; but where it waits for the very place, it is", async () => {
    await claim(dan, ["path:a"]);
    await claim(cat, ["path:c"]);
    await wait(ben, ["path:b", "path:c"]);
    await wait(ann, ["path:a"]);
    await wait(cat, ["path:a/x"]);
    // ben waits for cat, and cat for ann's turn at a.
    await wait(ann, ["path:b"]);
    await release(dan, "path:a");
    expect(await line()).toEqual(["ben waiting", "ann offered", "cat waiting", "ann offered"]);
  });

  test("is so for two that stand behind each other's turns, each at something else", async () => {
    await claim(dan, ["path:a", "path:b"]);
    await wait(ann, ["path:a"]);
    await wait(ben, ["path:b"]);
    await wait(ann, ["path:b"]);
    expect((await refused(ben, ["path:a"], { wait: true })).cycle).toMatchObject([
      { agent_name: "ben", waits_for: "path:a", holder: { agent_name: "ann" } },
      { agent_name: "ann", waits_for: "path:b", holder: { agent_name: "ben" } },
    ]);
  });

  test("is so where who seems to stand behind it passes it", async () => {
    await claim(ben, ["path:a"]);
    await claim(dan, ["slot:1"]);
    await wait(ann, ["path:a/b", "path:d"]);
    await wait(cat, ["slot:1", "path:a/c"]);
    await wait(ben, ["slot:1", "path:a/b"]);
    await wait(cat, ["path:d"]);
    // ben has its turn at a/b before ann, which waits for it; so cat has what it wants of ben, and waits for ann.
    const cycle = await refused(ann, ["path:a/c"], { wait: true });
    expect(cycle).toMatchObject({ code: "would_deadlock", cycle: [{ agent_name: "ann" }, { agent_name: "cat" }] });
  });

  test("isn't so while one of several places will be free without it, and is where each waits for it", async () => {
    await fresh.ask("set_scope_capacity", { scope: "slot:gpu", capacity: 2 }, lead);
    await claim(ann, ["slot:gpu"]);
    await claim(dan, ["slot:gpu"]);
    await claim(ben, ["path:p"]);
    await wait(ben, ["slot:gpu"]);
    const ticket = await wait(ann, ["path:p"]);
    await release(dan, "slot:gpu");
    expect(await line()).toEqual(["ben offered", "ann waiting"]);
    await fresh.ask("cancel_wait", { ticket }, ann);
    await claim(dan, ["path:q"]);
    await claim(ben, ["slot:gpu"]);
    await claim(cat, ["path:r"]);
    await wait(cat, ["slot:gpu"]);
    await wait(ben, ["path:q"]);
    await wait(ann, ["path:r"]);
    // ben waits for dan, and ann for cat: each place will be let go by nobody.
    expect((await refused(dan, ["path:r"], { wait: true })).code).toBe("would_deadlock");
  });
});
