import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { freshStore } from "../support/any-store.js";
import { limit, rounds } from "../support/campaign.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import type { RawAnswer, RawHttp } from "../support/raw-http.js";
import { ServerProcess } from "../support/server-process.js";

/**
 * Field reports of kind "race": C01 (over HTTP), C06 (5), C10, C32 (4). Others stand where their rule does: C01 and C02 in
 * why.test.ts, C04 in test/race, C06 and C08 in waits.test.ts.
 */

test(
  "C01: eight clients at two servers claim one named task; one gets it, seven are told who, round after round",
  async () => {
    const kept = await freshStore();
    onTestFinished(() => kept.remove());
    const servers = [await ServerProcess.start({ store: kept.url }), await ServerProcess.start({ store: kept.url })];
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const admin = (servers[0] as ServerProcess).client();
    const clients: { http: RawHttp; agent: string; session: string }[] = [];
    for (let nth = 0; nth < 8; nth += 1) {
      const { key, id: agent } = (await admin.post("/v1/agents", { name: `a${nth}` })).body;
      const http = (servers[nth % 2] as ServerProcess).client(key);
      clients.push({ http, agent, session: (await http.post("/v1/sessions")).body.id as string });
    }
    onTestFinished(() => {
      for (const http of [admin, ...clients.map(({ http }) => http)]) http.close();
    });
    for (let round = 0; round < rounds(30, 200); round += 1) {
      const { id } = (await admin.post("/v1/tasks", { content: `round ${round}` })).body;
      const answers = await Promise.all(
        clients.map(({ http, session }) => http.post(`/v1/tasks/${id}/claim`, { lease_seconds: 300 }, { session })),
      );
      const won = answers.findIndex(({ status }) => status === 200);
      const { agent, session } = clients[won] as (typeof clients)[number];
      const { task } = (answers[won] as RawAnswer).body;
      expect(Date.parse(task.lease_expires_at) - Date.parse(task.claimed_at)).toBe(300_000);
      for (const [at, { status, body }] of answers.entries()) {
        if (at === won) continue;
        expect({ status, ...body }).toMatchObject({
          status: 409,
          code: "task_claimed",
          holder: { agent_id: agent, session_id: session, lease_id: task.lease_id, expires_at: task.lease_expires_at },
        });
      }
      expect((await admin.get(`/v1/tasks/${id}`)).body).toMatchObject({
        attempts: 1,
        lease_id: task.lease_id,
        fence: 1,
      });
      const { body: claims } = await admin.get("/v1/claims?kind=task&limit=1000");
      expect(claims.filter((claim: { task_id: string }) => claim.task_id === id)).toHaveLength(1);
      const { body: events } = await admin.get(`/v1/events?task_id=${id}&types=task.claimed`);
      expect(events).toHaveLength(1);
    }
  },
  limit(180_000),
);

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

/** The store as two processes have it open. */
async function twoProcesses() {
  const other = await fresh.another();
  onTestFinished(() => other.close());
  return [fresh.store, other];
}
const claim = (as: Actor, ...scopes: string[]) => fresh.ask("claim_scopes", { scopes, intent: "mend it" }, as);

test("C06: a session that holds a folder may claim a file in it, and is never in its own way", async () => {
  await claim(ann, "path:src/a");
  const { claims } = await claim(ann, "path:src/a/x.ts");
  expect(claims).toMatchObject([{ scope: "path:src/a/x.ts", session_id: ann.sessionId }]);
  expect(await fresh.ask("check_scope", { scope: "path:src" }, ann)).toMatchObject({ free: true });
});

describe("C10: a task that can't be taken just now", () => {
  const task = (content: string, priority: number, ...scopes: string[]) => fresh.task({ content, priority, scopes });
  const next = (as: Actor, more: object = {}, on = fresh.store) => fresh.ask("claim_next_task", more, as, on);

  test("is passed over by all, with its name and reason, and is next once it is free; by name it is refused, untouched", async () => {
    const cat = await fresh.worker("cat");
    await claim(ben, "path:src/a");
    const first = await task("T1", 4, "path:src/a");
    const second = await task("T2", 3);
    const before = await fresh.read(first.id);
    expect(await next(ann)).toMatchObject({
      task: { id: second.id },
      skipped: [{ id: first.id, code: "scope_conflict", holder: { agent_name: "ben" } }],
      skipped_count: 1,
    });
    const refused = await fresh.refusal("claim_task", { task_id: first.id }, cat);
    expect(refused).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ holder: { agent_name: "ben", session_id: ben.sessionId, scope: "path:src/a" } }],
    });
    expect(await fresh.read(first.id)).toMatchObject({
      status: "open",
      ready: true,
      attempts: before.attempts,
      fence: 0,
    });
    await fresh.ask("release_scopes", { all: true }, ben);
    expect(await next(cat)).toMatchObject({ task: { id: first.id }, skipped_count: 0 });
  });

  test(
    "of two that touch one thing, claimed by two processes at one instant, one is given with its scope, and nothing else",
    async () => {
      const stores = await twoProcesses();
      for (let round = 0; round < rounds(15, 100); round += 1) {
        const two = [await task("T3", 2, "path:src/c"), await task("T4", 2, "path:src/c")];
        const got = await Promise.all([ann, ben].map((who, at) => next(who, {}, stores[at])));
        const granted = got.flatMap((answer) => answer.task ?? []);
        expect(granted, `round ${round}`).toHaveLength(1);
        const held = await fresh.ask("list_claims", { scope: "path:src/c" }, fresh.root);
        expect(held).toMatchObject([{ task_id: granted[0]?.id, session_id: granted[0]?.claimed_by_session_id }]);
        const loser = granted[0]?.claimed_by_session_id === ann.sessionId ? ben : ann;
        expect(await next(loser, { count: 2 })).toMatchObject({
          tasks: [],
          skipped: [{ code: "scope_conflict" }],
          skipped_count: 1,
        });
        const winner = loser === ann ? ben : ann;
        await fresh.ask("complete_task", { task_id: granted[0]?.id ?? "" }, winner);
        expect(await fresh.ask("list_claims", { scope: "path:src/c" }, fresh.root)).toEqual([]);
        const rest = await next(loser, { count: 2 });
        expect(rest.tasks?.map(({ id }) => id)).toEqual(two.map(({ id }) => id).filter((id) => id !== granted[0]?.id));
        await fresh.ask("complete_task", { task_id: rest.tasks?.[0]?.id ?? "" }, loser);
      }
    },
    limit(120_000),
  );

  test("is no error of a claim of several: it gets what can be had", async () => {
    const two = [await task("T3", 2, "path:src/c"), await task("T4", 2, "path:src/c")];
    const got = await next(ann, { count: 2 });
    expect(got.tasks?.map(({ id }) => id)).toEqual([two[0]?.id]);
    expect(got).toMatchObject({ skipped: [{ id: two[1]?.id, code: "scope_conflict" }], skipped_count: 1 });
  });
});

test(
  "C32: two that reach for the same two names in opposite order: one gets both, the other none, and nobody waits for ever",
  async () => {
    const stores = await twoProcesses();
    const wanted = [
      ["path:x", "path:y"],
      ["path:y", "path:x"],
    ];
    for (let round = 0; round < rounds(30, 100); round += 1) {
      const ended = await Promise.allSettled(
        [ann, ben].map((who, at) =>
          fresh.ask("claim_scopes", { scopes: wanted[at] as string[], intent: "race" }, who, stores[at]),
        ),
      );
      const won = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value.claims] : []));
      const lost = ended.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
      expect({ won: won.length, lost }, `round ${round}`).toEqual({ won: 1, lost: ["scope_conflict"] });
      const held = await fresh.ask("list_claims", {}, fresh.root);
      expect(held.map(({ id }) => id).sort()).toEqual(won[0]?.map(({ id }) => id).sort());
      for (const who of [ann, ben]) await fresh.ask("release_scopes", { all: true }, who);
    }
  },
  limit(120_000),
);
