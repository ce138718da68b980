import { type OperationName, operationList, ROLES } from "dibs/contract";
import { describe, expect, test } from "vitest";
import { type Actor, byKey, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C71 (rights). */

/** The least role for each operation, as the rules say it (R46): whatever is not named here, a worker may. */
const LEAST: Partial<Record<OperationName, "coordinator" | "admin">> = {
  retry_task: "coordinator",
  force_release_task: "coordinator",
  set_scope_capacity: "coordinator",
  grant_wait: "coordinator",
  create_project: "coordinator",
  create_recurrence: "coordinator",
  update_recurrence: "coordinator",
  delete_recurrence: "coordinator",
  place_hold: "coordinator",
  lift_hold: "coordinator",
  update_project: "coordinator",
  create_agent: "admin",
  update_agent: "admin",
  delete_agent: "admin",
  rotate_agent_key: "admin",
  revoke_agent_key: "admin",
  update_workspace: "admin",
};

/** Something every operation accepts in form, about things that aren't there. */
const NOWHERE = "f".repeat(32);
const INPUT: Record<string, unknown> = {
  task_id: NOWHERE,
  session_id: NOWHERE,
  agent_id: NOWHERE,
  recurrence_id: NOWHERE,
  handoff_id: NOWHERE,
  cron: "0 9 * * *",
  project_id: "nowhere",
  ids: [NOWHERE],
  depends_on: [NOWHERE],
  blocker_id: NOWHERE,
  content: "x",
  tasks: [{ content: "x" }],
  slug: "nowhere",
  steps: [{ key: "a", content: "x" }],
  name: "newcomer",
  key: "new-project",
  body: "x",
  url: "https://example.com",
  state: "working",
  reason: "because",
  verdict: "pass",
  branch: "main",
  commit: "a".repeat(40),
  root_commit: "a".repeat(40),
  context: { a: 1 },
  scopes: ["path:x"],
  scope: "port:1",
  capacity: 2,
  intent: "x",
  hold_id: NOWHERE,
  unlanded_id: NOWHERE,
  to_agent_id: NOWHERE,
  branches: ["main"],
  ttl_seconds: 60,
  ticket: NOWHERE,
  claim_id: NOWHERE,
  yield_id: NOWHERE,
  answer: "hold",
};
/** Fields that would make the call about something else than what is tried. */
const LEFT_OUT: Record<string, readonly string[]> = {
  list_sessions: ["state"],
  update_project: ["name", "key"],
  create_task: ["depends_on"],
};

function inputFor(name: string, shape: object): Record<string, unknown> {
  const fields = Object.keys(shape).filter((field) => field in INPUT && !LEFT_OUT[name]?.includes(field));
  return Object.fromEntries(fields.map((field) => [field, INPUT[field]]));
}

describe("roles are cumulative (R46)", () => {
  test.each(operationList)("$name is for its least role and those above it", async (operation) => {
    const fresh = await FreshStore.open();
    const name = operation.name as OperationName;
    const least = ROLES.indexOf(LEAST[name] ?? "worker");
    for (const [at, role] of ROLES.entries()) {
      const actor = await fresh.worker(`a-${role}`, role);
      const input = inputFor(name, operation.input.shape) as never;
      const outcome = await fresh.ask(name, input, actor).then(
        () => "ok",
        (thrown) => thrown.code as string,
      );
      if (at < least) expect(outcome, role).toBe("forbidden");
      else expect(["ok", "not_found", "already_exists"], `${role}: ${outcome}`).toContain(outcome);
    }
  });

  test("a refusal for a role names the role and who asked, and changes nothing", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const refused = await fresh.refusal("update_workspace", { max_attempts: 1 }, ann);
    expect(refused.message).toMatch(/admin.*ann|ann.*admin/);
    expect(await fresh.ask("get_workspace", {}, ann)).toMatchObject({ max_attempts: 5 });
  });

  const changes: readonly [name: string, change: (fresh: FreshStore, id: string, as: Actor) => Promise<unknown>][] = [
    ["update", (fresh, id, as) => fresh.ask("update_task", { task_id: id, priority: 1 }, as)],
    ["cancel", (fresh, id, as) => fresh.ask("cancel_task", { task_id: id }, as)],
    ["delete", (fresh, id, as) => fresh.ask("delete_task", { task_id: id }, as)],
    [
      "reopen",
      async (fresh, id, as) => {
        await fresh.ask("cancel_task", { task_id: id }, fresh.root);
        return fresh.ask("reopen_task", { task_id: id }, as);
      },
    ],
  ];
  test.each(changes)(
    "a worker may %s an unclaimed task that it created or was assigned; a coordinator any",
    async (_name, change) => {
      for (const [who, may] of [
        ["creator", true],
        ["assigned", true],
        ["stranger", false],
        ["coordinator", true],
      ] as const) {
        const fresh = await FreshStore.open();
        const creator = await fresh.worker("creator");
        const actors: Record<string, Actor> = {
          creator,
          assigned: await fresh.worker("assigned"),
          stranger: await fresh.worker("stranger"),
          coordinator: await fresh.worker("coordinator", "coordinator"),
        };
        const { id } = await fresh.task({}, creator);
        await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: actors.assigned?.id ?? "" }, fresh.root);
        const outcome = await change(fresh, id, actors[who] as Actor).then(
          () => "ok",
          (thrown) => thrown.code,
        );
        expect(outcome, who).toBe(may ? "ok" : "forbidden");
      }
    },
  );

  test("a worker assigns only to itself; a coordinator to anybody who is there", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const cleo = await fresh.worker("cleo", "coordinator");
    const to = (agent: string) => ({ content: "x", assigned_to_agent_id: agent });
    expect(await fresh.ask("create_task", to(ann.id), ann)).toMatchObject({ assigned_to_agent_id: ann.id });
    expect(await fresh.refusal("create_task", to(ben.id), ann)).toMatchObject({ code: "forbidden" });
    expect(await fresh.refusal("create_tasks", { tasks: [to(ann.id), to(ben.id)] }, ann)).toMatchObject({
      code: "forbidden",
    });
    const task = await fresh.ask("create_task", to(ben.id), cleo);
    const back = { task_id: task.id, assigned_to_agent_id: ann.id };
    expect(await fresh.refusal("update_task", back, ben)).toMatchObject({ code: "forbidden" });
    expect(await fresh.ask("update_task", back, cleo)).toMatchObject({ assigned_to_agent_id: ann.id });
    expect(await fresh.refusal("create_task", to("f".repeat(32)), cleo)).toMatchObject({ code: "not_found" });
    expect(await fresh.ask("list_tasks", {}, ann)).toHaveLength(2);
  });

  test("on the bare file the file's permission is the right: the named agent, made on first use, may all (R45)", async () => {
    const fresh = await FreshStore.open();
    const me = { identity: { kind: "file" as const, agent: "someone" } };
    expect(await fresh.ask("get_me", {}, me)).toMatchObject({ name: "someone", role: "worker", keys: [] });
    await fresh.ask("update_workspace", { max_attempts: 9 }, me);
    expect((await fresh.ask("list_agents", {}, me)).map((agent) => agent.name)).toEqual(["admin", "someone"]);
    const nowhere = { identity: { kind: "file" as const, agent: "someone", workspace: "nowhere" } };
    expect(await fresh.refusal("get_me", {}, nowhere)).toMatchObject({ code: "not_found" });
  });

  test("there it is called what an agent may be called: anything else is refused, and makes nobody", async () => {
    const fresh = await FreshStore.open();
    const said = "must be 1..64 of letters, digits, dot, underscore, hyphen; name the caller so";
    for (const agent of ["", "a b", "a/b", "ünï", "a\n", "a\0", "x".repeat(65), undefined as unknown as string]) {
      const me = { identity: { kind: "file" as const, agent } };
      for (const name of ["get_me", "claim_next_task"] as const) {
        const refused = await fresh.refusal(name, {}, me);
        expect(refused, String(agent)).toMatchObject({ code: "invalid_input", fields: [{ field: "agent" }] });
        expect(refused.message).toContain(said);
      }
    }
    expect(await fresh.ask("list_agents", {}, fresh.root)).toHaveLength(1);
    const longest = { identity: { kind: "file" as const, agent: `A.b_c-${"9".repeat(58)}` } };
    expect(await fresh.ask("get_me", {}, longest)).toMatchObject({ name: longest.identity.agent });
  });

  test("a wrong key is its own error, never an empty answer (R58)", async () => {
    const fresh = await FreshStore.open();
    await fresh.task();
    for (const key of ["", "nonsense", `dibs_${"a".repeat(10)}_${"b".repeat(32)}_000000`]) {
      for (const name of ["list_tasks", "claim_next_task", "list_claims"] as const) {
        expect(await fresh.refusal(name, {}, byKey(key))).toMatchObject({ code: "unauthorized" });
      }
    }
  });
});

describe("workspaces know nothing of each other (R47)", () => {
  test("another workspace's ids answer exactly like unknown ones, and its things are in no list", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id: task_id } = await fresh.task({ labels: ["shared"] });
    const { id: project_id } = await fresh.ask("create_project", { key: "secret" }, fresh.root);
    await fresh.claim(task_id, ann);
    await fresh.ask("create_plan", { slug: "nowhere", steps: [{ key: "a", content: "theirs alone" }] }, fresh.root);
    const { key } = await fresh.store.createWorkspace("other");
    const spy = byKey(key);
    const theirs = { task_id, session_id: ann.sessionId, agent_id: ann.id, project_id };
    const about = operationList.filter((each) => /:\w+/.test(each.path));
    expect(about.length).toBeGreaterThan(15);
    for (const operation of about) {
      const name = operation.name as OperationName;
      const input = { ...inputFor(name, operation.input.shape) };
      const asked = (ids: Record<string, string>) =>
        Object.fromEntries(Object.entries({ ...input, ...ids }).filter(([field]) => field in operation.input.shape));
      const [real, unknown] = [asked(theirs), asked({ ...theirs, ...blank(theirs) })];
      // Speaking of the task alone, not of a project or agent beside it.
      for (const field of ["project_id", "agent_id", "assigned_to_agent_id"]) {
        if (operation.path.includes(`:${field}`)) continue;
        delete real[field];
        delete unknown[field];
      }
      const [answer, expected] = [await outcomeOf(fresh, name, real, spy), await outcomeOf(fresh, name, unknown, spy)];
      const hidden = (text: string) => text.replaceAll(/[0-9a-f]{32}/g, "ID");
      expect(hidden(answer), name).toBe(hidden(expected));
      expect(answer, name).toContain("not_found");
    }
    for (const name of ["list_tasks", "list_claims", "list_events", "list_sessions"] as const) {
      expect(JSON.stringify(await fresh.ask(name, {}, spy))).not.toContain(task_id);
      expect(JSON.stringify(await fresh.ask(name, {}, spy))).not.toContain(ann.id);
    }
    expect(await fresh.ask("list_plans", {}, spy)).toEqual([]);
    expect((await fresh.ask("list_agents", {}, spy)).map((agent) => agent.name)).toEqual(["admin"]);
    expect((await fresh.ask("list_projects", {}, spy)).map((project) => project.key)).toEqual(["default"]);
    expect((await fresh.ask("claim_next_task", { labels: ["shared"] }, spy)).task).toBeNull();
    expect(await fresh.read(task_id)).toMatchObject({ claimed_by_agent_id: ann.id });
  });

  const blank = (ids: object) => Object.fromEntries(Object.keys(ids).map((field) => [field, "e".repeat(32)]));

  async function outcomeOf(fresh: FreshStore, name: OperationName, input: object, as: ReturnType<typeof byKey>) {
    return fresh.ask(name, input as never, as).then(
      (body) => `ok ${JSON.stringify(body)}`,
      (thrown) => `${thrown.code} ${thrown.message}`,
    );
  }

  test("names of agents and projects are free in each", async () => {
    const fresh = await FreshStore.open();
    await fresh.agent("ann");
    const { key } = await fresh.store.createWorkspace("other");
    expect(await fresh.ask("create_agent", { name: "ann" }, byKey(key))).toMatchObject({ name: "ann" });
    expect(await fresh.ask("create_project", { key: "default2" }, byKey(key))).toMatchObject({ key: "default2" });
    expect(await fresh.refusal("create_project", { key: "default" }, byKey(key))).toMatchObject({
      code: "already_exists",
    });
  });
});
