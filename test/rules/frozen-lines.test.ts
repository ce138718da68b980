import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Who waits in line for what a hold freezes (R36, R41). */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cleo: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  cleo = await fresh.worker("cleo", "coordinator");
});

const claim = (as: Actor, scopes: string[], more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
const place = (input: Partial<Input<"place_hold">>) =>
  fresh.ask("place_hold", { reason: "release", ttl_seconds: 60, ...input }, cleo);
const lift = (hold_id: string) => fresh.ask("lift_hold", { hold_id }, cleo);
const release = (as: Actor) => fresh.ask("release_scopes", { all: true }, as);
const waiting = (ticket: string, as: Actor = ben) => fresh.ask("get_wait", { ticket }, as);
const accept = (ticket: string) => fresh.ask("accept_wait", { ticket }, ben);

/** Ann holds it, ben waits for it. */
async function inLine(): Promise<string> {
  await claim(ann, ["path:src"]);
  const { ticket } = await claim(ben, ["path:src/a"], { wait: true });
  return ticket as string;
}

describe.each<[string, Partial<Input<"place_hold">>]>([
  ["a scope", { scope: "path:src" }],
  ["a project", { project: true }],
])("in line for %s that is frozen", (_what, on) => {
  test("nothing is offered that becomes free meanwhile; it is when the hold is lifted", async () => {
    const ticket = await inLine();
    const { id } = await place(on);
    await release(ann);
    expect(await waiting(ticket)).toMatchObject({ state: "waiting", position: 1 });
    expect(await accept(ticket)).toMatchObject({ state: "waiting", claims: [] });
    await lift(id);
    expect(await waiting(ticket)).toMatchObject({ state: "offered" });
    expect(await accept(ticket)).toMatchObject({ state: "granted", claims: [{ scope: "path:src/a" }] });
  });

  test("what was offered is taken back; its turn comes when the clock ends the hold, noticed or not", async () => {
    const ticket = await inLine();
    await release(ann);
    expect((await waiting(ticket)).state).toBe("offered");
    await place(on);
    expect(await waiting(ticket)).toMatchObject({ state: "waiting", offer_expires_at: null });
    const taken = await accept(ticket);
    expect(taken).toMatchObject({ state: "waiting", behind: [], holds: [{ reason: "release" }] });
    expect(taken.notices.map(({ message }) => message).join("\n")).toContain("is frozen until");
    const events = await fresh.ask("list_events", { limit: 1000 }, fresh.root);
    expect(events.filter(({ type }) => type === "scope.offer_withdrawn")).toMatchObject([
      { data: { ticket, reason: expect.stringContaining("release") } },
    ]);
    fresh.time.pass(59_999);
    expect((await accept(ticket)).state).toBe("waiting");
    fresh.time.pass(1);
    expect(await accept(ticket)).toMatchObject({ state: "granted", claims: [{ agent_name: "ben" }] });
  });

  test("it is offered as ever to whom the hold lets pass", async () => {
    const ticket = await inLine();
    await place({ ...on, allow_agent_ids: [ben.id] });
    await release(ann);
    expect(await accept(ticket)).toMatchObject({ state: "granted" });
  });

  test("nobody gets into line, and a person who overrules the line doesn't overrule the hold", async () => {
    const ticket = await inLine();
    await place(on);
    const more = { scopes: ["path:src/b"], intent: "x", wait: true };
    expect((await fresh.refusal("claim_scopes", more, ben)).code).toBe("frozen");
    expect((await fresh.refusal("grant_wait", { ticket, reason: "now" }, cleo)).code).toBe("frozen");
    expect(await fresh.ask("list_claims", {}, ann)).toMatchObject([{ agent_name: "ann", scope: "path:src" }]);
  });

  test("a holder that yields a part of it keeps the rest", async () => {
    const { claims } = await claim(ann, ["path:src"]);
    await claim(ben, ["path:src/a"], { wait: true });
    const asked = await fresh.ask("request_yield", { claim_id: claims[0]?.id as string, reason: "two lines" }, ben);
    await place(on);
    const answer = { yield_id: asked.id, answer: "narrow" as const, scopes: ["path:src/b"] };
    await fresh.ask("answer_yield", answer, ann);
    expect(await fresh.ask("list_claims", {}, ann)).toMatchObject([{ agent_name: "ann", scope: "path:src/b" }]);
  });
});

test("who waits in a call takes it within a second of the hold's end by the clock", async () => {
  const real = await FreshStore.open({ realTime: true });
  const [one, two] = [await real.worker("one"), await real.worker("two")];
  const wanted = { scopes: ["path:src"], intent: "x" };
  await real.ask("claim_scopes", wanted, one);
  const { ticket } = await real.ask("claim_scopes", { ...wanted, wait: true }, two);
  await real.ask("place_hold", { scope: "path:src", reason: "x", ttl_seconds: 1 }, real.root);
  await real.ask("release_scopes", { all: true }, one);
  const startedAt = performance.now();
  const taken = await real.ask("get_wait", { ticket: ticket as string, wait_seconds: 30 }, two);
  expect(taken.state).toBe("granted");
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
