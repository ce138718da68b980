import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

async function withAnn() {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const forAnn = (content: string, fields: object = {}) =>
    fresh.task({ content, assigned_to_agent_id: ann.id, ...fields });
  const remove = () => fresh.ask("delete_agent", { agent_id: ann.id, force: true, reason: "gone" }, fresh.root);
  return { fresh, ann, ben, forAnn, remove };
}

describe("what was assigned to an agent that is deleted (R48)", () => {
  test("is anybody's if it is not closed: ready, scheduled, held by it or by another, lapsed unnoticed", async () => {
    const { fresh, ann, ben, forAnn, remove } = await withAnn();
    const ready = await forAnn("ready", { labels: ["web"], priority: 4 });
    const scheduled = await forAnn("scheduled", { not_before: fresh.time.iso(3_600_000) });
    const own = await forAnn("held by it");
    await fresh.claim(own.id, ann);
    const lapsed = await forAnn("lapsed");
    await fresh.claim(lapsed.id, ann, { lease_seconds: 30 });
    const others = await fresh.task({ content: "held by another" });
    const lead = await fresh.worker("lead", "coordinator");
    await fresh.claim(others.id, lead);
    await fresh.ask("update_task", { task_id: others.id, assigned_to_agent_id: ann.id }, lead);
    const bens = await fresh.task({ content: "ben's", assigned_to_agent_id: ben.id });
    fresh.time.pass(30_000);

    expect(await fresh.refusal("claim_task", { task_id: ready.id }, ben)).toMatchObject({ code: "task_assigned" });
    expect(await remove()).toMatchObject({ tasks_released: 1, tasks_unassigned: 5 });
    for (const { id } of [ready, scheduled, own, lapsed, others]) {
      expect(await fresh.read(id)).toMatchObject({ assigned_to_agent_id: null });
    }
    expect(await fresh.read(others.id)).toMatchObject({ status: "claimed", claimed_by_agent_id: lead.id });
    expect(await fresh.read(bens.id)).toMatchObject({ assigned_to_agent_id: ben.id, version: bens.version });
    expect(await fresh.next(ben, { labels: ["web"] })).toMatchObject({ id: ready.id });
    const got = new Set([await fresh.next(ben), await fresh.next(ben), await fresh.next(ben)].map((task) => task?.id));
    expect(got).toEqual(new Set([own.id, lapsed.id, bens.id]));
  });

  test("and delegated: whoever claims it when its parts are done goes on, and its refusal says so", async () => {
    const { fresh, ann, ben, forAnn, remove } = await withAnn();
    const { id } = await forAnn("lead it");
    await fresh.claim(id, ann);
    const part = await fresh.ask("delegate_task", { task_id: id, content: "a part" }, ann);
    await remove();
    const refused = await fresh.refusal("claim_task", { task_id: id }, ben);
    expect(refused.message).not.toContain(ann.id);
    expect(refused.next).toContainEqual(expect.stringMatching(/^Whoever claims it goes on .* get_task_chain/));
    await fresh.claim(part.id, ben);
    await fresh.ask("complete_task", { task_id: part.id }, ben);
    expect(await fresh.next(ben)).toMatchObject({ id });
  });

  test("is told by the events of any reassignment, as done by who deleted it", async () => {
    const { fresh, forAnn, remove } = await withAnn();
    const [task, other] = [await forAnn("x"), await forAnn("y")];
    await fresh.ask("update_task", { task_id: other.id, assigned_to_agent_id: null }, fresh.root);
    await remove();
    const eventsOf = async (id: string) =>
      (await fresh.ask("get_task_history", { task_id: id }, fresh.root)).map(({ type, actor, data }) => ({
        type,
        by: actor?.agent_name,
        data,
      }));
    const [, ...events] = await eventsOf(task.id);
    expect(events).toEqual((await eventsOf(other.id)).slice(1));
    expect(events).toMatchObject([{ type: "task.updated" }, { type: "task.assigned", by: "admin" }]);
    expect((await fresh.read(task.id)).version).toBe(task.version + 1);
  });

  test("is found however much it is", async () => {
    const { fresh, ann, ben, remove } = await withAnn();
    const tasks = Array.from({ length: 600 }, (_, at) => ({
      content: `${at}`,
      // Every third is somebody else's.
      assigned_to_agent_id: at % 3 === 0 ? ben.id : ann.id,
    }));
    await fresh.ask("create_tasks", { tasks }, fresh.root);
    expect(await remove()).toMatchObject({ tasks_released: 0, tasks_unassigned: 400 });
    const left = await fresh.kept.rows<{ assigned_to: string; n: number }>(
      "SELECT assigned_to, count(*) AS n FROM tasks GROUP BY assigned_to ORDER BY n",
    );
    expect(left).toEqual([
      { assigned_to: ben.id, n: 200 },
      { assigned_to: "", n: 400 },
    ]);
  });

  test("keeps its name where it is closed, and loses it when it is opened again", async () => {
    const { fresh, ann, ben, forAnn, remove } = await withAnn();
    const [done, failed] = [await forAnn("done"), await forAnn("failed")];
    for (const { id } of [done, failed]) await fresh.claim(id, ann);
    await fresh.ask("complete_task", { task_id: done.id }, ann);
    await fresh.ask("fail_task", { task_id: failed.id, reason: "can't" }, ann);
    expect(await remove()).toMatchObject({ tasks_unassigned: 0 });
    for (const { id } of [done, failed]) expect((await fresh.read(id)).assigned_to_agent_id).toBe(ann.id);

    await fresh.ask("reopen_task", { task_id: done.id }, fresh.root);
    await fresh.ask("retry_task", { task_id: failed.id, reason: "once more" }, fresh.root);
    expect(await fresh.next(ben)).toMatchObject({ id: done.id, assigned_to_agent_id: null });
    expect(await fresh.next(ben)).toMatchObject({ id: failed.id, assigned_to_agent_id: null });
  });
});
