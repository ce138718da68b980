import { expect, test } from "vitest";
import { agentRow, StoreScene, type StoreUnderTest, sessionRow } from "./scene.js";
import { event } from "./transactions.js";

const ALL = { limit: 100, after: null };

export function recordTests(make: () => StoreUnderTest): void {
  test("a task comes back field by field as it was written, and goes with all that hangs on it", async () => {
    const scene = await StoreScene.set(make());
    const text = `"'\\ %_ \u{1F600} \u202e\r\n`;
    const made = { content: text, description: text, labels: JSON.stringify([text, "b"]), context: '{"a":[1]}' };
    const row = await scene.write((tx) => scene.task(tx, { ...made, priority: 4, due_date: 5, max_attempts: 9 }));
    expect(row).toMatchObject({
      ...made,
      priority: 4,
      due_date: 5,
      max_attempts: 9,
      version: 1,
      attempts: 0,
      fence: 0,
    });
    const said = {
      state_detail: text,
      progress: "1",
      checkpoint: "2",
      handoff_note: text,
      result: '"r"',
      state: "errored",
    };
    await scene.write(async (tx) => tx.tasks.update(row, { ...said, version: 2 }));
    await scene.write(async (tx) => {
      const comment = {
        id: "c",
        task_seq: row.seq,
        task_id: row.id,
        agent_id: "ann",
        body: text,
        kind: "comment" as const,
      };
      await tx.notes.addComment({ ...comment, lease_id: null, created_at: 1 });
      const link = { id: "k", task_seq: row.seq, task_id: row.id, agent_id: "ann", url: "https://x", title: null };
      await tx.notes.addLink({ ...link, kind: "other", created_at: 1 });
    });
    await scene.read(async (tx) => {
      expect(await tx.tasks.byId("w1", row.id)).toMatchObject({ ...row, ...said, version: 2 });
      expect(await tx.tasks.byId("w2", row.id)).toBeUndefined();
      expect(await tx.notes.comments(row.seq, ALL)).toMatchObject([{ body: text, agent_name: "ann" }]);
      expect(await tx.notes.links(row.seq, ALL)).toMatchObject([{ url: "https://x", title: null }]);
    });
    await scene.write(async (tx) => tx.tasks.remove(row));
    await scene.read(async (tx) => {
      expect(await tx.tasks.bySeq(row.seq)).toBeUndefined();
      expect(await tx.notes.comments(row.seq, ALL)).toEqual([]);
      expect(await tx.tasks.list("w1", { sort: "created", label: "b" }, ALL, tx.nowMs)).toEqual([]);
    });
  });

  test("agents by name in any letters, until they are deleted; then the name is free", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      expect(await tx.agents.byName("w1", "ANN")).toMatchObject({ id: "ann" });
      expect(await tx.agents.byName("w2", "ann")).toBeUndefined();
      await tx.agents.update("ann", { deleted_at: tx.nowMs });
      expect(await tx.agents.byName("w1", "ann")).toBeUndefined();
      expect([await tx.agents.byId("w1", "ann"), await tx.agents.byAnyId("ann")]).toEqual([undefined, undefined]);
      await tx.agents.insert(agentRow("Ann", tx.nowMs, "w1", "new"));
      expect((await tx.agents.list("w1", ALL)).map((agent) => agent.name)).toEqual(["ben", "Ann"]);
      expect(
        await tx.agents.list("w1", { limit: 1, after: [(await tx.agents.byId("w1", "ben"))?.seq ?? 0] }),
      ).toHaveLength(1);
    });
  });

  test("keys live until their end and not at it; secrets are of their kind and go when their time is over (R48)", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      for (const id of ["k1", "k2"]) {
        await tx.agents.insertKey({ id, hash: `h-${id}`, agent_id: "ann", created_at: 1, ends_at: null });
      }
      await tx.agents.endKey("k2", 100);
      const live = async (at: number) => (await tx.agents.liveKeys("ann", at)).map((key) => key.id);
      expect([await live(99), await live(100)]).toEqual([["k2", "k1"], ["k1"]]);
      expect(await tx.agents.keyByHash("h-k2")).toMatchObject({ id: "k2", agent_id: "ann", ends_at: 100 });
      expect(await tx.agents.keyByHash("h")).toBeUndefined();
      await tx.agents.insertSecret("s1", "code", "ann", 100);
      await tx.agents.insertSecret("s2", "cookie", "ann", 200);
      expect(await tx.agents.secret("s1", "cookie")).toBeUndefined();
      await tx.agents.dropSecretsBefore(100);
      expect(await tx.agents.secret("s1", "code")).toBeUndefined();
      expect(await tx.agents.secret("s2", "cookie")).toEqual({ agent_id: "ann", expires_at: 200 });
      await tx.agents.dropSecret("s2");
      expect(await tx.agents.secret("s2", "cookie")).toBeUndefined();
    });
  });

  test("sessions: open until their end and not at it, ended once, silent ones oldest first (R9)", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      const at = tx.nowMs;
      for (const [id, ttl] of [
        ["a", 60],
        ["b", 30],
        ["i", null],
      ] as const) {
        await tx.sessions.insert(sessionRow("ann", id, at, ttl));
      }
      const list = async (state: "open" | "expired" | "ended", nowMs: number) =>
        (await tx.sessions.list("w1", { state, agentId: "ann", nowMs }, ALL)).map((session) => session.id);
      expect(await list("open", at + 29_999)).toEqual(["i", "b", "a", "ann-s"]);
      expect(await list("open", at + 30_000)).toEqual(["i", "a", "ann-s"]);
      expect(await list("expired", at + 30_000)).toEqual(["b"]);
      const silent = async (nowMs: number, limit = 10) =>
        (await tx.sessions.silentSince(nowMs, limit)).map((session) => session.id);
      expect([await silent(at + 60_000), await silent(at + 60_000, 1)]).toEqual([["b", "a"], ["b"]]);
      expect(await tx.sessions.implicitOf("ann")).toMatchObject({ id: "i", expires_at: null });
      // A sign of life moves the end later, never earlier, and wakes no dead.
      expect(await tx.sessions.touch("a", at + 10_000, at + 70_000)).toBe(true);
      await tx.sessions.touch("a", at + 11_000, at + 65_000);
      expect(await tx.sessions.byId("w1", "a")).toMatchObject({ expires_at: at + 70_000 });
      expect(await tx.sessions.touch("b", at + 30_000, at + 60_000)).toBe(false);
      await tx.sessions.end("a", "ended", at + 1);
      await tx.sessions.end("a", "expired", at + 2);
      expect(await tx.sessions.byId("w1", "a")).toMatchObject({ state: "ended", ended_at: at + 1 });
      expect(await tx.sessions.byId("w2", "a")).toBeUndefined();
      expect((await tx.sessions.openOf("ann")).map((session) => session.id)).toEqual(["ann-s", "b", "i"]);
    });
  });

  test("events in the order they were written, by workspace, project, task and type, after any of them (R50)", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      const types = ["task.created", "task.claimed", "task.created", "task.claimed", "lease.expired"];
      for (const [at, type] of types.entries()) await tx.events.append(event(type, at, at < 2 ? "t1" : "t2"));
      await tx.events.append({ ...event("task.created", 9), workspace_id: "w2" });
    });
    await scene.read(async (tx) => {
      const list = async (filter: object) =>
        (await tx.events.list("w1", { afterId: 0, newest: false, limit: 10, ...filter })).map((each) => each.at);
      expect(await list({})).toEqual([0, 1, 2, 3, 4]);
      expect(await list({ types: ["task.claimed"] })).toEqual([1, 3]);
      expect(await list({ taskId: "t2", limit: 2 })).toEqual([2, 3]);
      expect(await list({ newest: true, limit: 2 })).toEqual([3, 4]);
      const [, second] = await tx.events.list("w1", { afterId: 0, newest: false, limit: 2 });
      expect(await list({ afterId: second?.id })).toEqual([2, 3, 4]);
      const last = await tx.events.lastOf("t2", ["task.claimed", "lease.expired"], 1);
      expect(last.map((each) => each.type)).toEqual(["lease.expired"]);
    });
  });

  test("notices newest first and acknowledged by their session only; a late result once a lease (R7, R54)", async () => {
    const scene = await StoreScene.set(make());
    const row = await scene.write((tx) => scene.task(tx));
    const comment = { task_seq: row.seq, task_id: row.id, agent_id: "ann", body: "r", kind: "late_result" as const };
    await scene.write(async (tx) => {
      for (const id of ["n1", "n2"]) {
        await tx.notes.addNotice({
          id,
          session_id: "ann-s",
          type: "lease.lost",
          task_id: null,
          at: 1,
          message: "m",
          data: "{}",
        });
      }
      expect((await tx.notes.notices("ann-s", 1)).map((notice) => notice.id)).toEqual(["n2"]);
      expect(await tx.notes.ackNotices("ben-s", ["n1", "n2"])).toBe(0);
      const before = tx.notes.noticeWrites;
      expect(await tx.notes.ackNotices("ann-s", ["n1", "nothere"])).toBe(1);
      expect(tx.notes.noticeWrites).toBeGreaterThan(before);
      expect(await tx.notes.noticeCount("ann-s")).toBe(1);
      expect(await tx.notes.hasLateResult("l")).toBe(false);
      await tx.notes.addComment({ ...comment, id: "c1", lease_id: "l", created_at: 1 });
      expect(await tx.notes.hasLateResult("l")).toBe(true);
    });
    const twice = scene.write(async (tx) =>
      tx.notes.addComment({ ...comment, id: "c2", lease_id: "l", created_at: 2 }),
    );
    await expect(twice).rejects.toThrow();
  });

  const DAY_MS = 24 * 3600 * 1000;
  test("remembered answers: younger than asked for, the newest of its key, forgotten oldest first (R59)", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      await tx.notes.remember("a", "h1", "first", 100);
    });
    await scene.write(async (tx) => {
      await tx.notes.remember("a", "h2", "second", 100 + DAY_MS);
      await tx.notes.remember("b", "h", "b", 150);
      await tx.notes.remember("c", "h", "c", 160);
      expect(await tx.notes.remembered("a", 99 + DAY_MS)).toEqual({ scope: "a", body_hash: "h2", answer: "second" });
      expect(await tx.notes.remembered("a", 100 + DAY_MS)).toBeUndefined();
      await tx.notes.forgetBefore(160, 1);
      expect([await tx.notes.remembered("b", 0), (await tx.notes.remembered("c", 0))?.answer]).toEqual([
        undefined,
        "c",
      ]);
      await tx.notes.forgetBefore(160, 10);
      expect(await tx.notes.remembered("c", 0)).toBeUndefined();
    });
  });

  test("projects by id or key within their workspace; settings and names are changed one by one", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      expect(await tx.workspaces.project("w1", "other")).toMatchObject({ id: "w1-other" });
      expect(await tx.workspaces.project("w1", "w1-other")).toMatchObject({ key: "other" });
      expect(await tx.workspaces.project("w2", "w1-other")).toBeUndefined();
      await tx.workspaces.updateProject("w1-other", { name: "Other" });
      expect((await tx.workspaces.projects("w1", ALL)).map((project) => project.name)).toEqual(["default", "Other"]);
      await tx.workspaces.update("w1", { settings: { max_attempts: 3 } as never });
      await tx.workspaces.update("w1", { name: "one" });
      expect(await tx.workspaces.byName("one")).toMatchObject({ id: "w1", settings: { max_attempts: 3 } });
      expect(await tx.workspaces.byName("w1")).toBeUndefined();
    });
  });
}
