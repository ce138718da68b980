import { expect, test } from "vitest";
import { StoreScene, type StoreUnderTest } from "./scene.js";

export function judgedTests(make: () => StoreUnderTest): void {
  test("a context's versions are read one by one and listed newest first; old ones go, all go with their task", async () => {
    const scene = await StoreScene.set(make());
    const version = (number: number, dropTo = 0) => ({
      dropTo,
      row: {
        version: number,
        context: number === 2 ? null : `{"n":${number}}`,
        changed: '["n"]',
        agent_id: "ann",
        session_id: number === 1 ? null : "ann-s",
        created_at: 1000 + number,
      },
    });
    const task = await scene.write(async (tx) => {
      const [one, other] = [await scene.task(tx), await scene.task(tx)];
      for (const { row, dropTo } of [version(1), version(2), version(3)]) await tx.contexts.keep(one.seq, row, dropTo);
      await tx.contexts.keep(other.seq, version(1).row, 0);
      expect(await tx.contexts.version(one.seq, 3)).toEqual({ ...version(3).row, agent_name: "ann" });
      return one;
    });
    const numbers = (page: { limit: number; after: number[] | null }) =>
      scene.read(async (tx) => (await tx.contexts.list(task.seq, page)).map((each) => each.version));
    expect(await numbers({ limit: 10, after: null })).toEqual([3, 2, 1]);
    expect(await numbers({ limit: 1, after: [3] })).toEqual([2]);
    await scene.read(async (tx) => {
      expect(await tx.contexts.version(task.seq, 2)).toEqual({ ...version(2).row, agent_name: "ann" });
      expect(await tx.contexts.version(task.seq, 4)).toBeUndefined();
      const [newest] = await tx.contexts.list(task.seq, { limit: 1, after: null });
      expect(newest).not.toHaveProperty("context");
    });
    await scene.write(async (tx) => tx.contexts.keep(task.seq, version(4).row, 2));
    expect(await numbers({ limit: 10, after: null })).toEqual([4, 3]);
    await scene.write(async (tx) => tx.tasks.remove(task));
    expect(await numbers({ limit: 10, after: null })).toEqual([]);
  });

  test("a branch has one head a project, wherever it was; heads are found by their branches and listed in order", async () => {
    const scene = await StoreScene.set(make());
    const row = (project_id: string, branch: string, head: string, updated_at = 1) => {
      const workspace_id = project_id.slice(0, 2);
      return { workspace_id, project_id, branch, head, agent_id: "ann", updated_at };
    };
    await scene.write(async (tx) => {
      await tx.heads.put(row("w1-p", "main", "a"));
      await tx.heads.put(row("w1-p", "feat/ü", "b"));
      await tx.heads.put(row("w1-other", "main", "c"));
      await tx.heads.put(row("w2-p", "main", "d"));
      await tx.heads.put({ ...row("w1-p", "main", "e", 2), agent_id: "ben" });
    });
    const all = { limit: 10, after: null };
    await scene.read(async (tx) => {
      const heads = (rows: { head: string }[]) => rows.map(({ head }) => head).sort();
      expect(heads(await tx.heads.of(["w1-p", "w1-other"], ["main"]))).toEqual(["c", "e"]);
      expect(heads(await tx.heads.of(["w1-p"], ["main", "feat/ü", "none"]))).toEqual(["b", "e"]);
      expect((await tx.heads.of(["w1-p"], ["main"]))[0]).toMatchObject({ agent_id: "ben", updated_at: 2 });
      const listed = await tx.heads.list("w1", { projectId: null, branch: null }, all);
      expect(listed.map(({ head }) => head)).toEqual(["e", "b", "c"]);
      const next = { limit: 1, after: [listed[0]?.seq ?? 0] };
      expect(await tx.heads.list("w1", { projectId: null, branch: null }, next)).toEqual([listed[1]]);
      expect(await tx.heads.list("w1", { projectId: "w1-p", branch: "main" }, all)).toEqual([listed[0]]);
    });
  });

  test("what is required, said and judged is read back with its task", async () => {
    const scene = await StoreScene.set(make());
    const made = await scene.write((tx) => scene.task(tx, { requires_verdict: 1 }));
    expect(made).toMatchObject({ requires_verdict: 1, context_version: 0, evidence: null, verdict: null });
    const said = { context: '{"a":1}', context_version: 7, evidence: "[]", verdict: '{"outcome":"pass"}' };
    await scene.write(async (tx) => {
      await tx.tasks.update(made, { ...said, requires_verdict: 0 });
      expect(await tx.tasks.bySeq(made.seq)).toMatchObject({ ...said, requires_verdict: 0 });
    });
  });
}
