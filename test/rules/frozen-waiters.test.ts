import { beforeEach, describe, expect, test } from "vitest";
import type { Actor } from "../support/fresh-store.js";
import { type LineScene, lineScene } from "../support/line-scene.js";

/** Who is in line for what a hold freezes is in nobody's way meanwhile (R36, R41). */

let { fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, line } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, line } = await lineScene());
});

const freeze = (scope: string, allow: readonly Actor[] = []) =>
  fresh.ask(
    "place_hold",
    { scope, reason: "release", ttl_seconds: 60, allow_agent_ids: allow.map(({ id }) => id) },
    lead,
  );
const lift = (hold_id: string) => fresh.ask("lift_hold", { hold_id }, lead);

describe("with ben in line for a and b, of which ann has b", () => {
  beforeEach(async () => {
    await claim(ann, ["path:b"]);
    await wait(ben, ["path:a", "path:b"]);
  });

  test("a is had by whoever comes while b is frozen, and not before nor after", async () => {
    expect((await refused(cat, ["path:a"])).code).toBe("scope_conflict");
    const { id } = await freeze("path:b");
    expect((await claim(cat, ["path:a"])).claims).toMatchObject([{ scope: "path:a" }]);
    await release(cat, "path:a");
    expect(await line()).toEqual(["ben waiting"]);
    await lift(id);
    expect((await refused(cat, ["path:a"])).code).toBe("scope_conflict");
    await release(ann, "path:b");
    expect(await line()).toEqual(["ben offered"]);
  });

  test("nor after the clock has ended the hold, noticed or not", async () => {
    await freeze("path:b");
    fresh.time.pass(59_999);
    await claim(cat, ["path:a/x"]);
    fresh.time.pass(1);
    expect((await refused(dan, ["path:a/y"])).code).toBe("scope_conflict");
  });

  test("who is in line behind is offered it as b is frozen", async () => {
    await wait(cat, ["path:a"]);
    expect(await line()).toEqual(["ben waiting", "cat waiting"]);
    await freeze("path:b");
    expect(await line()).toEqual(["ben waiting", "cat offered"]);
  });

  test("so has who claims the next task", async () => {
    const { id } = await fresh.task({ scopes: ["path:a"] });
    const first = await fresh.ask("claim_next_task", {}, cat);
    expect(first).toMatchObject({ task: null, skipped_count: 1 });
    await freeze("path:b");
    expect((await fresh.ask("claim_next_task", {}, cat)).task?.id).toBe(id);
  });

  test("b is had by whom the hold lets pass, though ben is before it", async () => {
    await freeze("path:b", [dan]);
    await release(ann, "path:b");
    expect(await line()).toEqual(["ben waiting"]);
    expect((await claim(dan, ["path:b"])).claims).toMatchObject([{ scope: "path:b" }]);
  });

  test("nobody has it who waits for ben: they would wait for each other", async () => {
    await claim(ben, ["path:c"]);
    await wait(cat, ["path:c"]);
    await freeze("path:b");
    expect((await refused(cat, ["path:a"])).code).toBe("scope_conflict");
    expect((await claim(dan, ["path:a"])).claims).toHaveLength(1);
  });

  test("nor is offered it whose other ticket waits for ben", async () => {
    await claim(ben, ["path:c"]);
    await wait(cat, ["path:c"]);
    await wait(cat, ["path:a"]);
    await freeze("path:b");
    expect(await line()).toEqual(["ben waiting", "cat waiting", "cat waiting"]);
    await release(ben, "path:c");
    expect(await line()).toEqual(["ben waiting", "cat offered", "cat offered"]);
  });

  test("a deadlock that would come when the hold is over is refused at once (R37)", async () => {
    await claim(cat, ["path:c"]);
    await claim(dan, ["path:d"]);
    await wait(ben, ["path:c"]);
    await freeze("path:b");
    const refusal = await refused(cat, ["path:a", "path:d"], { wait: true });
    expect(refusal.code).toBe("would_deadlock");
    expect(refusal.cycle).toMatchObject([{ holder: { agent_name: "ben" } }, { holder: { agent_name: "cat" } }]);
  });
});
