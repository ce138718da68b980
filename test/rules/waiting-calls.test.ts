import { expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

/** Calls that stay in line, in real time: nothing here takes longer than what they wait for. */

async function scene() {
  const fresh = await FreshStore.open({ realTime: true });
  const [ann, ben, cat] = [await fresh.worker("ann"), await fresh.worker("ben"), await fresh.worker("cat")];
  await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x" }, ann);
  return { fresh, ann, ben, cat };
}
const inLine = async (fresh: FreshStore, count: number) => {
  while ((await fresh.ask("list_waits", {}, fresh.root)).length < count)
    await new Promise((done) => setTimeout(done, 5));
};

test("a claim that waits has what is released within a second, in its turn, in another process too (R36)", async () => {
  const { fresh, ann, ben, cat } = await scene();
  const other = await fresh.another();
  const wanted = { scopes: ["path:a/b"], intent: "x", wait: true, wait_seconds: 30 };
  const first = fresh.ask("claim_scopes", wanted, ben, other);
  await inLine(fresh, 1);
  const second = fresh.ask("claim_scopes", wanted, cat);
  await inLine(fresh, 2);
  const releasedAtMs = Date.now();
  await fresh.ask("release_scopes", { all: true }, ann);
  expect((await first).claims).toMatchObject([{ scope: "path:a/b", agent_name: "ben" }]);
  expect(Date.now() - releasedAtMs).toBeLessThan(1000);
  await fresh.ask("release_scopes", { all: true }, ben, other);
  expect((await second).claims).toMatchObject([{ agent_name: "cat" }]);
  await other.close();
});

test("a ticket's call wakes itself when a lease ends by the clock, and takes what that frees", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x", ttl_seconds: 2 }, ann);
  const { ticket = "" } = await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x", wait: true }, ben);
  const granted = await fresh.ask("get_wait", { ticket, wait_seconds: 30 }, ben);
  expect(granted).toMatchObject({ state: "granted", claims: [{ scope: "path:a", agent_name: "ben" }] });
});

test("one whose time is up stays in line, and is told its place", async () => {
  const { fresh, ben } = await scene();
  const wanted = { scopes: ["path:a"], intent: "x", wait: true, wait_seconds: 1 };
  const { status, body } = await fresh.answer("claim_scopes", wanted, ben);
  expect([status, body.position, body.claims]).toEqual([202, 1, []]);
  expect(await fresh.ask("get_wait", { ticket: body.ticket ?? "", wait_seconds: 1 }, ben)).toMatchObject({
    state: "waiting",
  });
});

test("somebody else's call about a ticket takes nothing", async () => {
  const { fresh, ann, ben, cat } = await scene();
  const { ticket = "" } = await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x", wait: true }, ben);
  await fresh.ask("release_scopes", { all: true }, ann);
  expect(await fresh.ask("get_wait", { ticket, wait_seconds: 1 }, cat)).toMatchObject({ state: "offered" });
  expect((await fresh.refusal("accept_wait", { ticket }, cat)).code).toBe("forbidden");
});

test("of two halves of a deadlock that are asked at one instant, by two processes, one is refused (R37)", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const other = await fresh.another();
  for (let round = 0; round < 20; round += 1) {
    await fresh.ask("claim_scopes", { scopes: [`path:${round}`], intent: "x" }, ann);
    await fresh.ask("claim_scopes", { scopes: [`port:${round}`], intent: "x" }, ben);
    const outcomes = await Promise.all([
      fresh
        .ask("claim_scopes", { scopes: [`port:${round}`], intent: "x", wait: true }, ann)
        .then(() => "waits", codeOf),
      fresh
        .ask("claim_scopes", { scopes: [`path:${round}`], intent: "x", wait: true }, ben, other)
        .then(() => "waits", codeOf),
    ]);
    expect(outcomes.sort()).toEqual(["waits", "would_deadlock"]);
    await fresh.ask("release_scopes", { all: true }, ann);
    await fresh.ask("release_scopes", { all: true }, ben);
    for (const { ticket } of await fresh.ask("list_waits", {}, fresh.root))
      await fresh.ask("cancel_wait", { ticket }, fresh.root);
  }
  await other.close();
});

const codeOf = (thrown: { code?: string }) => String(thrown.code);
