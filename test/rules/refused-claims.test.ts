import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, claim, refused, wait, release } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, claim, refused, wait, release } = await lineScene());
});

const events = () => fresh.ask("list_events", { types: ["scope.refused"] }, fresh.root);

describe("refused claims in the log (R51)", () => {
  test("the event says who was refused what, and who has it", async () => {
    const [held] = (await claim(ann, ["path:src"])).claims;
    await refused(ben, ["path:docs", "path:src/a"]);
    expect(await events()).toMatchObject([
      {
        actor: { agent_name: "ben" },
        task_id: null,
        data: {
          code: "scope_conflict",
          scopes: [{ scope: "path:src/a" }],
          holders: [{ claim_id: held?.id, scope: "path:src", agent_name: "ann" }],
          holders_count: 1,
          count: 1,
        },
      },
    ]);
  });

  test("one a session, subject and minute; the next says how many there were", async () => {
    fresh.time.pass(60_000 - (Date.parse(await nowOf()) % 60_000));
    await claim(ann, ["path:a", "path:b"], { ttl_seconds: 3600 });
    for (let time = 0; time < 5; time += 1) await refused(ben, ["path:a"]);
    await refused(ben, ["path:b"]);
    await refused(cat, ["path:a"]);
    expect((await events()).map(({ actor, data }) => [actor?.agent_name, data.scopes, data.count])).toEqual([
      ["ben", [{ scope: "path:a" }], 1],
      ["ben", [{ scope: "path:b" }], 1],
      ["cat", [{ scope: "path:a" }], 1],
    ]);
    fresh.time.pass(60_000);
    await refused(ben, ["path:a"]);
    expect((await events()).at(-1)).toMatchObject({ actor: { agent_name: "ben" }, data: { count: 5 } });
  });

  test("a task whose names aren't free is refused with its id, a wait that would be a deadlock with what it waits for", async () => {
    const task = await fresh.task({ content: "edit", scopes: ["path:a"] });
    await claim(ann, ["path:a"]);
    await fresh.refusal("claim_task", { task_id: task.id }, ben);
    await claim(ben, ["path:b"]);
    await wait(ann, ["path:b"]);
    await refused(ben, ["path:a"], { wait: true });
    expect(await events()).toMatchObject([
      { task_id: task.id, data: { code: "scope_conflict", scopes: [{ scope: "path:a" }] } },
      {
        task_id: null,
        data: { code: "would_deadlock", scopes: [{ scope: "path:a" }], holders: [{ agent_name: "ann" }] },
      },
    ]);
  });

  test("of what is offered in another project stand in that one, each for itself", async () => {
    const { id } = await fresh.ask("create_project", { key: "web" }, fresh.root);
    const [wide, ...parts] = (await claim(ann, ["path:src", "path:src/a", "path:src/b"], { project_id: "web" })).claims;
    for (const { id: claim_id } of [...parts, ...parts]) {
      const offer = await fresh.ask("handoff_claim", { claim_id, to_agent_id: ben.id }, ann);
      expect(await fresh.refusal("accept_handoff", { handoff_id: offer.id }, ben)).toMatchObject({
        code: "scope_conflict",
      });
    }
    const seen = { project_id: id, data: { holders: [{ claim_id: wide?.id }], count: 1 } };
    expect(await events()).toMatchObject([
      { ...seen, data: { scopes: [{ scope: "path:src/a" }], ...seen.data } },
      { ...seen, data: { scopes: [{ scope: "path:src/b" }], ...seen.data } },
    ]);
  });

  test("looking, waiting and being refused for other reasons leave none", async () => {
    await claim(ann, ["path:a"]);
    await fresh.ask("check_scope", { scope: "path:a" }, ben);
    await wait(ben, ["path:a"]);
    await refused(cat, ["path:..", "path:a"]);
    await release(ann, "path:a");
    expect(await events()).toEqual([]);
  });
});

const nowOf = async () => (await fresh.task({ content: "clock" })).created_at;
