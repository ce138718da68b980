import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

/** What a reviewer of the line found: those who were never served, and those who would have waited for each other. */

let { fresh, ann, ben, cat, dan, claim, refused, wait, release, line } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, claim, refused, wait, release, line } = await lineScene({ ttl_seconds: 3600 }));
});

/** A task whose scopes were taken by others for two lease lengths, so that they are kept for it. */
async function starved(...scopes: string[]): Promise<string> {
  const { id } = await fresh.task({ content: "wide", scopes });
  await claim(ann, [`${scopes[0]}/1`]);
  await fresh.next(cat);
  fresh.time.pass(600_000);
  await release(ann, `${scopes[0]}/1`);
  await claim(ann, [`${scopes[0]}/1`]);
  expect(await fresh.next(cat)).toBeNull();
  return id;
}

describe("nobody is left standing in line", () => {
  test("a ticket for a task ends with its lease, and is counted no more", async () => {
    await fresh.ask("update_workspace", { waits_per_agent_max: 1 }, fresh.root);
    const { id } = await fresh.task();
    await fresh.claim(id, ben);
    await claim(ann, ["path:a"]);
    const ticket = await wait(ben, ["path:a", "path:b"], { task_id: id });
    await wait(cat, ["path:b"]);
    await fresh.ask("complete_task", { task_id: id }, ben);
    expect(await line()).toEqual(["cat offered"]);
    expect(await fresh.ask("get_wait", { ticket }, ben)).toMatchObject({ ended_how: "task_lost" });
    await wait(ben, ["path:a"]);
  });

  test("of many who want different parts all are offered theirs", async () => {
    await fresh.ask("update_workspace", { waits_per_agent_max: 1000 }, fresh.root);
    await claim(ann, ["path:src"]);
    for (let nth = 0; nth < 60; nth += 1) await wait(ben, [`path:src/${nth}`]);
    await release(ann, "path:src");
    expect(new Set(await line())).toEqual(new Set(["ben offered"]));
  });

  const ends: readonly [string, (id: string) => Promise<unknown>][] = [
    ["is cancelled", (id) => fresh.ask("cancel_task", { task_id: id }, fresh.root)],
    ["is put off", (id) => fresh.ask("update_task", { task_id: id, not_before: "2030-01-01T00:00:00Z" }, fresh.root)],
    ["declares others", (id) => fresh.ask("update_task", { task_id: id, scopes: ["path:docs"] }, fresh.root)],
    ["is deleted", (id) => fresh.ask("delete_task", { task_id: id }, fresh.root)],
    [
      "has to wait for another",
      async (id) => fresh.ask("add_dependencies", { task_id: id, depends_on: [(await fresh.task()).id] }, fresh.root),
    ],
  ];
  test.each(ends)("what is kept for a task is free when it %s", async (_how, end) => {
    const id = await starved("path:src");
    await wait(ben, ["path:src/2"]);
    expect(await line()).toEqual(["ben waiting"]);
    await end(id);
    expect(await line()).toEqual(["ben offered"]);
  });

  test("what a refused call's look at the clock freed is offered nevertheless", async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 8; nth += 1) ids.push((await fresh.task({ scopes: [`path:s${nth}`] })).id);
    for (const id of ids) await fresh.claim(id, ann);
    await wait(ben, ["path:s7"]);
    fresh.time.pass(300_000);
    expect((await fresh.refusal("claim_task", { task_id: ids[7] ?? "" }, dan)).code).toBe("scope_conflict");
    expect(await line()).toEqual(["ben offered"]);
  });

  test("whom somebody waits for passes what then waits for it, without a word of anybody else", async () => {
    await starved("path:a", "path:b");
    await claim(ben, ["path:d"]);
    await wait(ben, ["path:b"]);
    expect(await line()).toEqual(["ben waiting"]);
    await wait(ann, ["path:d"]);
    expect(await line()).toContain("ben offered");
  });

  test("a task behind a ticket that ends by the clock is found at once", async () => {
    const mortal = await fresh.session(ben, { ttl_seconds: 30 });
    await claim(ann, ["path:a"]);
    const behind = await fresh.task({ scopes: ["path:b"] });
    await wait(mortal, ["path:a", "path:b"]);
    expect(await fresh.next(cat)).toBeNull();
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(30_000);
    expect(await fresh.next(cat)).toMatchObject({ id: behind.id });
    await wait(dan, ["path:a"]);
    const other = await fresh.task({ scopes: ["path:a"] });
    await release(ann, "path:a");
    expect(await fresh.next(ann)).toBeNull();
    fresh.time.pass(30_000);
    expect(await fresh.next(ann)).toMatchObject({ id: other.id });
  });

  test("what a session has got otherwise it waits for no more", async () => {
    await claim(ann, ["path:a"]);
    await wait(ben, ["path:a"]);
    await release(ann, "path:a");
    await claim(ben, ["path:a", "path:b"]);
    expect(await line()).toEqual([]);
  });

  test("a task behind a ticket that a session may pass is free for that session", async () => {
    await claim(ann, ["path:a"]);
    const { id } = await fresh.task({ scopes: ["path:b"] });
    await wait(ben, ["path:a", "path:b"]);
    expect(await fresh.next(cat)).toBeNull();
    expect(await fresh.next(ann)).toMatchObject({ id });
  });
});

describe("no two wait for each other, and no two hold the same", () => {
  test("a high priority gets nobody before one whom it waits for", async () => {
    await claim(ben, ["path:a"]);
    await claim(cat, ["path:b"]);
    await wait(ben, ["path:b"]);
    await wait(ann, ["path:a"]);
    await wait(ann, ["path:b"], { priority: 4 });
    await release(cat, "path:b");
    expect(await line()).toEqual(["ben offered", "ann waiting", "ann waiting"]);
  });

  test("nor does a task whose scopes were kept for it", async () => {
    const id = await starved("path:b");
    await claim(ann, ["path:a"]);
    await wait(dan, ["path:a"]);
    await wait(ben, ["path:b/2"]);
    await claim(ben, ["path:z"]);
    await wait(dan, ["path:z"]);
    await release(ann, "path:b/1");
    // dan waits for ben, who waits for a part of what the task would take.
    expect((await fresh.refusal("claim_task", { task_id: id }, dan)).code).toBe("scope_conflict");
    expect(await fresh.next(cat)).toMatchObject({ id });
  });

  test("a project's letter case stays as it is while somebody waits for its names", async () => {
    await claim(ann, ["path:SRC"]);
    const ticket = await wait(ben, ["path:SRC"]);
    await release(ann, "path:SRC");
    const change = { project_id: "default", case_insensitive: true };
    expect((await fresh.refusal("update_project", change, fresh.root)).code).toBe("invalid_input");
    await fresh.ask("cancel_wait", { ticket }, ben);
    await fresh.ask("update_project", change, fresh.root);
    expect((await refused(cat, ["port:"])).code).toBe("invalid_scope");
  });
});
