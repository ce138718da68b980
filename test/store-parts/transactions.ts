import { expect, test } from "vitest";
import type { Tx } from "../../src/core/port/store.js";
import { agentRow, StoreScene, type StoreUnderTest } from "./scene.js";

export function transactionTests(make: () => StoreUnderTest): void {
  test("what a transaction wrote is there for every other connection, and its result is the body's", async () => {
    const scene = await StoreScene.set(make());
    const other = await scene.under.open();
    const { id } = await scene.write((tx) => scene.task(tx, { content: "x" }));
    const seen = await other.transaction("read", async (tx) => (await tx.tasks.byId("w1", id))?.content);
    await other.close();
    expect(seen).toBe("x");
  });

  test("anything thrown undoes all of it, and the next transaction is not affected", async () => {
    const scene = await StoreScene.set(make());
    const kept = await scene.write((tx) => scene.task(tx));
    const failing = scene.write(async (tx) => {
      await tx.tasks.update(kept, { content: "changed" });
      await scene.grant(tx, await scene.task(tx));
      await tx.agents.insert(agentRow("cleo", tx.nowMs));
      await tx.events.append(event("task.created", tx.nowMs));
      throw new Error("half way");
    });
    await expect(failing).rejects.toThrow("half way");
    const left = await scene.write(async (tx) => ({
      agents: (await tx.agents.list("w1", { limit: 9, after: null })).map((agent) => agent.name),
      tasks: await tx.tasks.list("w1", { sort: "created" }, { limit: 9, after: null }, tx.nowMs),
      events: await tx.events.list("w1", { afterId: 0, newest: false, limit: 9 }),
    }));
    expect(left).toMatchObject({ agents: ["ann", "ben"], events: [], tasks: [{ id: kept.id, content: kept.content }] });
    expect(left.tasks).toHaveLength(1);
  });

  test("a duplicate of what must be unique is refused, never taken twice", async () => {
    const scene = await StoreScene.set(make());
    const twice = [
      scene.write((tx) => Promise.resolve(tx.agents.insert(agentRow("ANN", tx.nowMs, "w1", "other")))),
      scene.write((tx) =>
        Promise.resolve(tx.workspaces.insert({ id: "w3", name: "w1", settings: {} as never, created_at: 0 })),
      ),
    ];
    for (const each of twice) await expect(each).rejects.toThrow();
    // The same name in another workspace is another agent.
    await scene.write((tx) => Promise.resolve(tx.agents.insert(agentRow("ann", tx.nowMs, "w2", "other"))));
  });

  test("one clock for all connections: it follows time, never goes back, and is written down (R2)", async () => {
    const scene = await StoreScene.set(make());
    const other = await scene.under.open();
    const nowOf = (store = scene.store, mode: "read" | "write" = "write") =>
      store.transaction(mode, async (tx) => tx.nowMs);
    const start = await nowOf();
    expect(await nowOf(other)).toBe(start);
    scene.under.pass(1_234);
    expect([await nowOf(other, "read"), await nowOf(), await nowOf(other)]).toEqual(Array(3).fill(start + 1_234));
    await other.close();
    const third = await scene.under.open();
    expect(await nowOf(third, "read")).toBe(start + 1_234);
    await third.close();
  });

  test("the number of others' writes moves when another connection wrote, and only then (R48, R56)", async () => {
    const scene = await StoreScene.set(make());
    const other = await scene.under.open();
    const versionOf = (store = scene.store) => store.transaction("read", async (tx) => tx.othersVersion);
    const before = await versionOf();
    await scene.store.changedElsewhere();
    await scene.write((tx) => scene.task(tx));
    expect(await versionOf()).toBe(before);
    expect(await scene.store.changedElsewhere()).toBe(false);
    const adding = async (tx: Tx) => {
      await tx.agents.insert(agentRow("cleo", tx.nowMs));
      await tx.events.append(event("agent.created", tx.nowMs));
    };
    await other.transaction("write", adding, { changesIdentities: true });
    // A transaction in between doesn't swallow it, neither the one nor the other.
    await scene.write(async () => {});
    expect(await scene.store.changedElsewhere()).toBe(true);
    expect(await scene.store.changedElsewhere()).toBe(false);
    expect(await versionOf()).not.toBe(before);
    await other.close();
  });

  test("what a connection keeps of a row goes when another connection changes it", async () => {
    const scene = await StoreScene.set(make());
    const other = await scene.under.open();
    const row = await scene.write(async (tx) => {
      const granted = await scene.grant(tx, await scene.task(tx));
      tx.tasks.keep(granted);
      return granted;
    });
    const seen = () => scene.read(async (tx) => (await tx.tasks.byId("w1", row.id))?.content);
    expect(await seen()).toBe(row.content);
    await other.transaction("write", async (tx) => tx.tasks.update(row, { content: "theirs" }));
    expect(await seen()).toBe("theirs");
    await scene.write(async (tx) => tx.tasks.update(row, { content: "ours" }));
    expect(await seen()).toBe("ours");
    await other.close();
  });

  test("writes are counted, reads aren't", async () => {
    const scene = await StoreScene.set(make());
    const counts = await scene.write(async (tx) => {
      const before = tx.writes;
      await tx.agents.byName("w1", "ann");
      const read = tx.writes - before;
      await tx.agents.update("ann", { description: "x" });
      return { read, written: tx.writes - before };
    });
    expect(counts).toEqual({ read: 0, written: 1 });
  });
}

export function event(type: string, at: number, task_id: string | null = null) {
  const nobody = { agent_id: null, agent_name: null, session_id: null };
  return { workspace_id: "w1", type, at, ...nobody, project_id: null, task_id, data: "{}" };
}
