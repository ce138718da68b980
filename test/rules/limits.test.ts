import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

/** Sizes of requests and their rate are limited by the HTTP surface; here is what the engine limits (R49). */

describe("limits (R49)", () => {
  test("live claims per agent: also after the limit was below what the agent holds, and was raised", async () => {
    const fresh = await FreshStore.open();
    const limitTo = (claims_per_agent_max: number) =>
      fresh.ask("update_workspace", { claims_per_agent_max }, fresh.root);
    const ann = await fresh.worker("ann");
    for (let n = 0; n < 10; n += 1) await fresh.task();
    await limitTo(6);
    await fresh.ask("claim_next_task", { count: 6 }, ann);
    await limitTo(2);
    expect(await fresh.refusal("claim_next_task", {}, ann)).toMatchObject({ code: "limit_exceeded", limit: 2 });
    await limitTo(7);
    expect((await fresh.ask("claim_next_task", { count: 4 }, ann)).tasks).toHaveLength(1);
  });

  test("live claims per agent: over it 409 limit_exceeded naming the setting; what ends makes room at once", async () => {
    const fresh = await FreshStore.open();
    await fresh.ask("update_workspace", { claims_per_agent_max: 3 }, fresh.root);
    const first = await fresh.worker("ann");
    const second = await fresh.session(first);
    for (let n = 0; n < 6; n += 1) await fresh.task();
    // Counted over all sessions of the agent; a count beyond the room gets what there is room for.
    await fresh.next(first, { lease_seconds: 30 });
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 5 }, second);
    expect(tasks).toHaveLength(2);
    const expected = { code: "limit_exceeded", setting: "claims_per_agent_max", limit: 3 };
    const refused = [
      await fresh.refusal("claim_next_task", {}, first),
      await fresh.refusal("claim_next_task", { count: 2 }, second),
      await fresh.refusal("claim_task", { task_id: (await fresh.task()).id }, first),
    ];
    for (const each of refused) expect(each).toMatchObject(expected);
    expect(refused[0]?.message).toContain("claims_per_agent_max");
    const ben = await fresh.worker("ben");
    expect(await fresh.next(ben)).not.toBeNull();
    await fresh.ask("complete_task", { task_id: tasks[0]?.id ?? "" }, second);
    expect(await fresh.next(first)).not.toBeNull();
    expect((await fresh.refusal("claim_next_task", {}, first)).code).toBe("limit_exceeded");
    // The clock makes room as well.
    fresh.time.pass(30_000);
    expect(await fresh.next(second)).not.toBeNull();
  });

  test("renewing what is held needs no room", async () => {
    const fresh = await FreshStore.open();
    await fresh.ask("update_workspace", { claims_per_agent_max: 1 }, fresh.root);
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    expect(await fresh.claim(id, ann, { lease_seconds: 600 })).toMatchObject({ lease_remaining_ms: 600_000, fence: 1 });
  });

  test("the limit holds in a crowd: of ten claims at one instant as many are granted as there is room", async () => {
    const fresh = await FreshStore.open();
    await fresh.ask("update_workspace", { claims_per_agent_max: 4 }, fresh.root);
    const ann = await fresh.worker("ann");
    for (let n = 0; n < 10; n += 1) await fresh.task();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => fresh.next(ann)));
    expect(results.filter((each) => each.status === "fulfilled")).toHaveLength(4);
    expect(await fresh.ask("list_claims", {}, ann)).toHaveLength(4);
  });

  test("a batch holds 1..1,000 tasks, all or none; a page 1..1,000 rows", async () => {
    const fresh = await FreshStore.open();
    const batch = (size: number) => ({ tasks: Array.from({ length: size }, (_, n) => ({ content: `${n}` })) });
    for (const size of [0, 1001]) {
      const refused = await fresh.refusal("create_tasks", batch(size), fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "tasks" }] });
    }
    expect(await fresh.ask("create_tasks", batch(1000), fresh.root)).toHaveLength(1000);
    const half = { tasks: [{ content: "fine" }, { content: "no", project_id: "nowhere" }] };
    expect(await fresh.refusal("create_tasks", half, fresh.root)).toMatchObject({ code: "not_found" });
    for (const limit of [0, 1001, 1.5]) {
      const refused = await fresh.refusal("list_tasks", { limit }, fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "limit" }] });
    }
    expect(await fresh.ask("list_tasks", { limit: 1000 }, fresh.root)).toHaveLength(1000);
  });

  test("pages follow each other without a gap or a repeat, in every order", async () => {
    const fresh = await FreshStore.open();
    const tasks = Array.from({ length: 57 }, (_, n) => ({ content: `${n}`, priority: 1 + ((n * 7) % 4) }));
    await fresh.ask("create_tasks", { tasks }, fresh.root);
    for (const sort of ["handout", "created", "-created"] as const) {
      const whole = (await fresh.ask("list_tasks", { sort, limit: 1000 }, fresh.root)).map((task) => task.id);
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await fresh.answer("list_tasks", { sort, limit: 10, ...(cursor ? { cursor } : {}) }, fresh.root);
        paged.push(...page.body.map((task) => task.id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
      expect(new Set(paged).size).toBe(57);
    }
    for (const cursor of ["", "nonsense", Buffer.from('["sessions:open",1]').toString("base64url")]) {
      const refused = await fresh.refusal("list_tasks", { cursor }, fresh.root);
      expect(refused.code).toBe("invalid_cursor");
    }
  });
});
