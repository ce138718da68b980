import { beforeEach, describe, expect, test } from "vitest";
import type { Actor } from "../support/fresh-store.js";
import { type PlacesScene, placesScene } from "../support/places-scene.js";

let { fresh, ann, ben, cat, places, claim, refused, isFree, release } = {} as PlacesScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, places, claim, refused, isFree, release } = await placesScene());
});

describe("a flat scope with places (R32)", () => {
  test("is held by so many at once, each for itself, with fences of their own; the next is told who they are", async () => {
    await places(2);
    const [first, second] = [await claim(ann), await claim(ben)];
    expect(second.claims[0]?.fence).toBeGreaterThan(first.claims[0]?.fence ?? 0);
    expect(await isFree(cat)).toBe(false);
    expect(await refused(cat)).toMatchObject({
      code: "scope_conflict",
      conflicts: [
        { requested: "slot:gpu", holder: { agent_name: "ann" }, reason: "all 2 places are taken" },
        { holder: { agent_name: "ben" } },
      ],
    });
    // Asking again is a renewal, and takes no place.
    await claim(ann);
    await release(ben);
    expect(await isFree(cat)).toBe(true);
    await claim(cat);
    expect(await fresh.ask("list_scope_capacities", {}, cat)).toMatchObject([
      { scope: "slot:gpu", capacity: 2, taken: 2, free: 0 },
    ]);
  });

  test("frees a place at the instant a lease ends", async () => {
    await places(2);
    await claim(ann, ["slot:gpu"], { ttl_seconds: 30 });
    await claim(ben);
    fresh.time.pass(29_999);
    expect(await isFree(cat)).toBe(false);
    fresh.time.pass(1);
    expect(await isFree(cat)).toBe(true);
    await claim(cat);
  });

  test("is one thing to patterns and to those who share it: they conflict with every holder", async () => {
    await places(3);
    await claim(ann);
    expect((await refused(ben, ["slot:*"])).code).toBe("scope_conflict");
    expect((await refused(ben, ["slot:gpu"], { mode: "shared" })).code).toBe("scope_conflict");
    await release(ann);
    await claim(ben, ["slot:*"]);
    expect(await refused(cat)).toMatchObject({ conflicts: [{ holder: { scope: "slot:*" }, reason: "they overlap" }] });
    await release(ben);
    await claim(ben, ["slot:gpu"], { mode: "shared" });
    expect((await refused(cat)).code).toBe("scope_conflict");
  });

  test("with fewer places than holders leaves them alone and lets nobody in; with one it is as any other", async () => {
    await places(3);
    for (const as of [ann, ben]) await claim(as);
    expect(await places(1)).toEqual({
      project_id: expect.any(String),
      scope: "slot:gpu",
      capacity: 1,
      taken: 2,
      free: 0,
    });
    expect(await fresh.ask("list_scope_capacities", {}, cat)).toEqual([]);
    await fresh.ask("heartbeat_scopes", { all: true }, ann);
    await release(ann);
    expect(await refused(cat)).toMatchObject({ conflicts: [{ holder: { agent_name: "ben" }, reason: "it is held" }] });
    await release(ben);
    await claim(cat);
    expect(await isFree(ann)).toBe(false);
  });

  test("with fewer places than holders goes on being renewed, also by who asks to share what it has alone (R5)", async () => {
    await places(2);
    for (const as of [ann, ben]) await claim(as);
    expect((await claim(ben, ["slot:gpu"], { mode: "shared" })).claims).toMatchObject([{ mode: "exclusive" }]);
    await places(1);
    expect((await claim(ann)).claims).toMatchObject([{ nested: 2 }]);
  });

  test("is a matter of its project, or of the workspace for kinds that projects share", async () => {
    await fresh.ask("create_project", { key: "other" }, fresh.root);
    await places(2);
    await places(2, "port:3000");
    await claim(ann, ["slot:gpu"], { project_id: "other" });
    expect(await isFree(ben, "slot:gpu", { project_id: "other" })).toBe(false);
    await claim(ann, ["port:3000"]);
    await claim(ben, ["port:3000"], { project_id: "other" });
    expect((await refused(cat, ["port:3000"])).code).toBe("scope_conflict");
    const other = await fresh.ask("list_scope_capacities", { project_id: "other" }, cat);
    expect(other.map(({ scope }) => scope)).toEqual(["port:3000"]);
  });

  test("is given no places where it is a tree, a pattern, or nobody may", async () => {
    for (const scope of ["path:src", "slot:*", "slot:g*u", "db:main"])
      expect(await fresh.refusal("set_scope_capacity", { scope, capacity: 2 }, fresh.root), scope).toMatchObject({
        code: "invalid_input",
        fields: [{ field: "scope" }],
      });
    expect((await fresh.refusal("set_scope_capacity", { scope: "slot:a", capacity: 2 }, ann)).code).toBe("forbidden");
    for (const capacity of [0, 1001, 1.5])
      expect((await fresh.refusal("set_scope_capacity", { scope: "slot:a", capacity }, fresh.root)).code).toBe(
        "invalid_input",
      );
  });

  test("goes from hand to hand, and takes no second place for that (R39)", async () => {
    await places(2);
    const { claims } = await claim(ann);
    await claim(ben);
    const offer = { claim_id: claims[0]?.id as string, to_agent_id: cat.id };
    const { id } = await fresh.ask("handoff_claim", offer, ann);
    expect((await fresh.ask("accept_handoff", { handoff_id: id }, cat)).claim?.agent_name).toBe("cat");
    expect((await refused(ann)).code).toBe("scope_conflict");
  });
});

describe("tasks that want a place (R16)", () => {
  const task = (content: string) => fresh.task({ content, scopes: ["slot:gpu"] });

  test("are claimed while one is free, then passed over; any that is freed wakes one", async () => {
    await places(2);
    const ids = [];
    for (const content of ["one", "two", "three"]) ids.push((await task(content)).id);
    for (const as of [ann, ben]) await fresh.next(as);
    expect(await fresh.ask("claim_next_task", {}, cat)).toMatchObject({ task: null, skipped: [{ id: ids[2] }] });
    expect((await fresh.refusal("claim_task", { task_id: ids[2] as string }, cat)).code).toBe("scope_conflict");
    expect(await fresh.ask("get_task_why", { task_id: ids[2] as string }, cat)).toMatchObject({ claimable: false });
    await fresh.ask("complete_task", { task_id: ids[1] as string }, ben);
    expect((await fresh.next(cat))?.id).toBe(ids[2]);
  });

  test.each([0, 1])("the end of holder %i wakes who sleeps because of either", async (nth) => {
    await places(2);
    const holders = [ann, ben];
    await claim(ann, ["slot:gpu"], { ttl_seconds: 600 });
    await claim(ben, ["slot:gpu"], { ttl_seconds: 900 });
    const { id } = await task("waits");
    expect(await fresh.next(cat)).toBeNull();
    await release(holders[nth] as Actor);
    expect((await fresh.next(cat))?.id).toBe(id);
  });

  test("and by the clock: also when the one it sleeps because of was renewed", async () => {
    await places(2);
    await claim(ann, ["slot:gpu"], { ttl_seconds: 60 });
    await claim(ben, ["slot:gpu"], { ttl_seconds: 90 });
    const { id } = await task("waits");
    expect(await fresh.next(cat)).toBeNull();
    await fresh.ask("heartbeat_scopes", { all: true, ttl_seconds: 600 }, ann);
    fresh.time.pass(89_999);
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(1);
    expect((await fresh.next(cat))?.id).toBe(id);
  });

  test("more places wake who sleeps, at once (R21)", async () => {
    await claim(ann);
    const { id } = await task("waits");
    expect(await fresh.next(cat)).toBeNull();
    await places(2);
    expect((await fresh.next(cat))?.id).toBe(id);
  });

  test("of one session each take one; what it holds by itself shares the place of its task", async () => {
    await places(2);
    await claim(ann);
    const [one, two] = [await task("one"), await task("two")];
    await fresh.claim(one.id, ann);
    expect(await fresh.ask("list_scope_capacities", {}, ann)).toMatchObject([{ taken: 1, free: 1 }]);
    await fresh.claim(two.id, ann);
    expect(await isFree(ben)).toBe(false);
    const three = await task("three");
    expect((await fresh.refusal("claim_task", { task_id: three.id }, ann)).code).toBe("scope_conflict");
  });
});
