import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** What an agent may hold at most (R49), and tasks that would be more, as their scopes are claims, too. */

let fresh: FreshStore;
let ann: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  await fresh.ask("update_workspace", { claims_per_agent_max: 3 }, fresh.root);
});

const wide = () => fresh.task({ content: "wide", scopes: ["path:a", "path:b", "path:c"] });
const held = async () => (await fresh.ask("list_claims", {}, fresh.root)).length;

describe("a task that with its scopes is more than one may hold", () => {
  test("keeps nobody from what comes after it, and is told", async () => {
    const [{ id }, plain] = [await wide(), await fresh.task({ content: "plain" })];
    const taken = await fresh.ask("claim_next_task", {}, ann);
    expect(taken.task?.id).toBe(plain.id);
    expect(taken).toMatchObject({ skipped: [{ id, code: "limit_exceeded" }], skipped_count: 1 });
    // It keeps nobody else from anything: others may have its names, and it is ready.
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
    await fresh.ask("update_workspace", { claims_per_agent_max: 4 }, fresh.root);
    expect((await fresh.next(await fresh.worker("ben")))?.id).toBe(id);
  });

  test("is refused by name of the setting where there is nothing else", async () => {
    await wide();
    const refused = await fresh.refusal("claim_next_task", {}, ann);
    expect(refused).toMatchObject({ code: "limit_exceeded", setting: "claims_per_agent_max", limit: 3 });
    expect(await held()).toBe(0);
  });

  test("ends a claim of several without undoing what it was given; nobody gets more than the limit", async () => {
    const narrow = { scopes: ["path:x"] };
    for (const task of [narrow, { scopes: ["path:y", "path:z"] }, {}, {}]) await fresh.task(task);
    const { tasks } = await fresh.ask("claim_next_task", { count: 4 }, ann);
    expect(tasks?.map(({ scopes }) => scopes.length)).toEqual([1]);
    const [ben, cat] = [await fresh.worker("ben"), await fresh.worker("cat")];
    expect((await fresh.ask("claim_next_task", { count: 4 }, ben)).tasks).toHaveLength(1);
    expect((await fresh.ask("claim_next_task", { count: 4 }, cat)).tasks).toHaveLength(2);
    expect(await held()).toBe(2 + 3 + 2);
  });
});

test("the holder of a task can't have it touch more than it may hold", async () => {
  const { id } = await fresh.task({ scopes: ["path:a"] });
  await fresh.claim(id, ann);
  const touch = (scopes: string[]) => ({ task_id: id, scopes });
  const refused = await fresh.refusal("update_task", touch(["path:a", "path:b", "path:c"]), ann);
  expect(refused).toMatchObject({ code: "limit_exceeded", limit: 3 });
  await fresh.ask("update_task", touch(["path:b", "path:c"]), ann);
  await fresh.ask("update_task", touch(["path:d", "path:e"]), ann);
  expect(await held()).toBe(3);
});

test("a name that is handed over to who shares it has a fence above all that was granted meanwhile (R4, R39)", async () => {
  await fresh.ask("update_workspace", { claims_per_agent_max: 100 }, fresh.root);
  const parent = await fresh.session(ann, { share_with_children: true });
  const [one, two] = [
    await fresh.session(ann, { parent_session_id: parent.sessionId }),
    await fresh.session(ann, { parent_session_id: parent.sessionId }),
  ];
  const claim = async (as: Actor, mode: "exclusive" | "shared") =>
    (await fresh.ask("claim_scopes", { scopes: ["path:a"], mode, intent: "x" }, as)).claims[0];
  const whole = await claim(parent, "exclusive");
  await claim(one, "shared");
  const last = await claim(two, "shared");
  await fresh.ask("release_scopes", { all: true }, two);
  const offer = { claim_id: whole?.id as string, to_session_id: one.sessionId };
  const { id } = await fresh.ask("handoff_claim", offer, parent);
  const accepted = await fresh.ask("accept_handoff", { handoff_id: id }, one);
  expect(accepted.claim).toMatchObject({ mode: "exclusive" });
  expect(accepted.claim?.fence).toBeGreaterThan(last?.fence as number);
});
