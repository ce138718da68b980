import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, dan, claim, refused, wait, release, line } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, claim, refused, wait, release, line } = await lineScene());
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
    // Without waiting it is an ordinary conflict.
    expect((await refused(cat, ["path:a/x"])).code).toBe("scope_conflict");
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
});
