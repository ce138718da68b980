import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C11, C23 (2), C71. */

/** A task that A has claimed for 30 s under a lease, and B who looks on. */
async function held() {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const cleo = await fresh.worker("cleo", "coordinator");
  const task = await fresh.task();
  const { lease_id } = await fresh.claim(task.id, ann, { lease_seconds: 30 });
  return { fresh, ann, ben, cleo, id: task.id, lease: lease_id as string };
}
type Held = Awaited<ReturnType<typeof held>>;

/** Every write of a holder, as one who isn't it (any more) tries it. */
const HOLDER_WRITES = ["heartbeat_task", "release_task", "complete_task", "fail_task", "set_task_state"] as const;
const extra = { fail_task: { reason: "no" }, set_task_state: { state: "working" } } as Record<string, object>;

async function everyWrite(fresh: FreshStore, as: Actor, input: { task_id: string; lease_id?: string; fence?: number }) {
  const refusals = [];
  for (const name of HOLDER_WRITES) refusals.push(await fresh.refusal(name, { ...input, ...extra[name] } as never, as));
  return refusals;
}

describe("a write without the right to it is refused with the reason, and changes nothing (R3)", () => {
  const ways: readonly [reason: string, how: string, (held: Held) => Promise<unknown>][] = [
    ["expired", "the clock ended it", async ({ fresh }) => fresh.time.pass(30_000)],
    [
      "expired",
      "the clock ended it and another took the task",
      async ({ fresh, ben, id }) => {
        fresh.time.pass(30_000);
        await fresh.claim(id, ben);
      },
    ],
    [
      "released",
      "its holder gave it back and another took it",
      async ({ fresh, ann, ben, id }) => {
        await fresh.ask("release_task", { task_id: id }, ann);
        await fresh.claim(id, ben);
      },
    ],
    [
      "released",
      "its holder failed it for a retry",
      async ({ fresh, ann, id }) => fresh.ask("fail_task", { task_id: id, reason: "flaky", retry: true }, ann),
    ],
    [
      "completed",
      "its holder finished it",
      async ({ fresh, ann, id }) => fresh.ask("complete_task", { task_id: id, result: 1 }, ann),
    ],
    [
      "completed",
      "its holder failed it",
      async ({ fresh, ann, id }) => fresh.ask("fail_task", { task_id: id, reason: "no" }, ann),
    ],
    [
      "completed",
      "its holder cancelled it",
      async ({ fresh, ann, id }) => fresh.ask("cancel_task", { task_id: id }, ann),
    ],
    [
      "revoked",
      "a coordinator released it",
      async ({ fresh, cleo, id }) => fresh.ask("force_release_task", { task_id: id, reason: "stuck" }, cleo),
    ],
    [
      "revoked",
      "an admin took it over",
      async ({ fresh, id }) => fresh.claim(id, fresh.root, { takeover: true, reason: "mine" }),
    ],
  ];
  test.each(ways)("%s: %s", async (reason, _how, end) => {
    const scene = await held();
    const { fresh, ann, id, lease } = scene;
    await end(scene);
    const before = await fresh.read(id);
    const named = await everyWrite(fresh, ann, { task_id: id, lease_id: lease });
    const unnamed = await everyWrite(fresh, ann, { task_id: id });
    // What repeats the very call that ended the lease is answered like that call, not refused.
    for (const refused of [...named, ...unnamed]) {
      expect(refused).toMatchObject({ code: "lease_lost", reason });
      expect(refused.next?.length).toBeGreaterThan(0);
      expect(refused.holder?.session_id).toBe(before.status === "claimed" ? before.claimed_by_session_id : undefined);
    }
    expect(await fresh.read(id)).toEqual(before);
  });

  test("never_held: others, and others who know the lease's id", async () => {
    const { fresh, ben, id, lease, ann } = await held();
    const before = await fresh.read(id);
    for (const input of [
      { task_id: id },
      { task_id: id, lease_id: lease },
      { task_id: id, lease_id: "0".repeat(32) },
    ]) {
      for (const refused of await everyWrite(fresh, ben, input)) {
        expect(refused).toMatchObject({ code: "lease_lost", reason: "never_held" });
        expect(refused.holder).toMatchObject({
          agent_id: ann.id,
          session_id: ann.sessionId,
          lease_id: lease,
          fence: 1,
        });
        expect(refused.message).toContain("ann");
      }
    }
    expect(await fresh.read(id)).toEqual(before);
  });

  test("never_held: another agent's lease stays its own matter after its end too", async () => {
    const { fresh, ann, ben, id, lease } = await held();
    fresh.time.pass(30_000);
    const stolen = { task_id: id, lease_id: lease, result: "not ann's" };
    expect(await fresh.refusal("complete_task", stolen, ben)).toMatchObject({ reason: "never_held" });
    expect(await fresh.ask("list_comments", { task_id: id }, ben)).toEqual([]);
    await fresh.refusal("complete_task", { task_id: id, lease_id: lease, result: "ann's" }, ann);
    expect(await fresh.ask("list_comments", { task_id: id }, ben)).toMatchObject([
      { agent_id: ann.id, body: '"ann\'s"' },
    ]);
  });

  test("superseded: the holder names an older lease of its own, or another fence (R4)", async () => {
    const { fresh, ann, id, lease } = await held();
    await fresh.ask("release_task", { task_id: id }, ann);
    const { lease_id } = await fresh.claim(id, ann);
    const before = await fresh.read(id);
    const wrong = [
      { task_id: id, lease_id: lease },
      { task_id: id, fence: 1 },
      { task_id: id, lease_id: lease_id ?? "", fence: 3 },
    ];
    for (const input of wrong) {
      for (const refused of await everyWrite(fresh, ann, input)) expect(refused.reason).toBe("superseded");
      expect(await fresh.refusal("cancel_task", input, ann)).toMatchObject({ reason: "superseded" });
    }
    expect(await fresh.read(id)).toEqual(before);
    await fresh.ask("complete_task", { task_id: id, lease_id: lease_id ?? "", fence: 2 }, ann);
  });

  test("C23: another session of the same agent is not the holder", async () => {
    const { fresh, ann, id } = await held();
    const twin = await fresh.session(ann);
    for (const refused of await everyWrite(fresh, twin, { task_id: id })) {
      expect(refused).toMatchObject({
        code: "lease_lost",
        reason: "never_held",
        holder: { session_id: ann.sessionId },
      });
    }
  });

  test("C71: who holds is known from the key; a name in the body is refused by name, and history keeps every row", async () => {
    const { fresh, ann, ben, id } = await held();
    for (const name of [...HOLDER_WRITES, "update_task"] as const) {
      const input = { task_id: id, agent: "ann", ...extra[name] } as never;
      expect(await fresh.refusal(name, input, ben)).toMatchObject({
        code: "invalid_input",
        fields: [{ field: "agent" }],
      });
    }
    expect(await fresh.refusal("update_task", { task_id: id, priority: 1 }, ben)).toMatchObject({
      code: "task_claimed",
    });
    await fresh.ask("release_task", { task_id: id }, ann);
    const history = await fresh.ask("get_task_history", { task_id: id }, ben);
    const actor = { agent_id: ann.id, agent_name: "ann", session_id: ann.sessionId };
    expect(history.filter((event) => event.type !== "stale_write.refused")).toMatchObject([
      { type: "task.created" },
      { type: "task.claimed", actor },
      { type: "task.released", actor },
    ]);
  });

  test("refused writes leave one event a session, task and minute (R51)", async () => {
    const { fresh, ann, ben, id } = await held();
    fresh.time.pass(30_000);
    const refuseBoth = async () => {
      for (const actor of [ann, ben, ann, ben]) await fresh.refusal("heartbeat_task", { task_id: id }, actor);
    };
    const refused = async () => (await fresh.history(id)).filter((type) => type === "stale_write.refused").length;
    await refuseBoth();
    await refuseBoth();
    expect(await refused()).toBe(2);
    fresh.time.pass(60_000);
    await refuseBoth();
    expect(await refused()).toBe(4);
  });
});

describe("a late result (R7)", () => {
  test("C11: never changes what another delivered; it is kept as a comment, once for the lost lease", async () => {
    const { fresh, ann, ben, id, lease } = await held();
    fresh.time.pass(31_000);
    const { lease_id } = await fresh.claim(id, ben);
    fresh.time.pass(9_000);
    await fresh.ask("complete_task", { task_id: id, lease_id: lease_id ?? "", result: "R2" }, ben);
    const before = await fresh.read(id);
    expect(before).toMatchObject({ status: "completed", result: "R2", closed_by_agent_id: ben.id });
    fresh.time.pass(10_000);
    const late = await fresh.refusal("complete_task", { task_id: id, lease_id: lease, result: "R1" }, ann);
    expect(late).toMatchObject({ code: "lease_lost", reason: "expired" });
    await fresh.refusal("complete_task", { task_id: id, lease_id: lease, result: "R1 again" }, ann);
    await fresh.refusal("heartbeat_task", { task_id: id, lease_id: lease }, ann);
    await fresh.refusal("release_task", { task_id: id, lease_id: lease }, ann);
    expect(await fresh.read(id)).toEqual(before);
    expect((await fresh.history(id)).filter((type) => type === "task.completed")).toHaveLength(1);
    const comments = await fresh.ask("list_comments", { task_id: id }, ben);
    expect(comments).toMatchObject([{ kind: "late_result", agent_id: ann.id, body: '"R1"' }]);
  });

  test("is kept though its worker named no lease, as a plain curl loop does", async () => {
    const { fresh, ann, ben, id } = await held();
    fresh.time.pass(31_000);
    await fresh.claim(id, ben);
    await fresh.refusal("complete_task", { task_id: id, result: { late: true } }, ann);
    await fresh.refusal("complete_task", { task_id: id, result: "once is enough" }, ann);
    const comments = await fresh.ask("list_comments", { task_id: id }, ben);
    expect(comments).toMatchObject([{ kind: "late_result", agent_id: ann.id, body: '{"late":true}' }]);
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", claimed_by_agent_id: ben.id });
  });

  test("is kept for each lease its worker lost", async () => {
    const { fresh, ann, id } = await held();
    for (const result of ["first", "second"]) {
      fresh.time.pass(31_000);
      await fresh.refusal("complete_task", { task_id: id, result }, ann);
      await fresh.claim(id, ann, { lease_seconds: 30 });
    }
    const bodies = (await fresh.ask("list_comments", { task_id: id }, ann)).map((comment) => comment.body);
    expect(bodies).toEqual(['"first"', '"second"']);
  });

  test("is not made of a wrong fence: the lease still lives and can still be finished", async () => {
    const { fresh, ann, id } = await held();
    await fresh.refusal("complete_task", { task_id: id, fence: 7, result: "early" }, ann);
    expect(await fresh.ask("list_comments", { task_id: id }, ann)).toEqual([]);
    expect(await fresh.ask("complete_task", { task_id: id, result: "right" }, ann)).toMatchObject({ result: "right" });
  });
});
