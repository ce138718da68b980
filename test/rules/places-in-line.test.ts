import { beforeEach, describe, expect, test } from "vitest";
import type { Actor, Input } from "../support/fresh-store.js";
import { type PlacesScene, placesScene } from "../support/places-scene.js";

let { fresh, ann, ben, cat, places, claim, refused, isFree, release } = {} as PlacesScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, places, claim, refused, isFree, release } = await placesScene());
});

type Scopes = Input<"claim_scopes">["scopes"];

describe("the line for a place (R35, R36)", () => {
  const wait = async (as: Actor, scopes: Scopes = ["slot:gpu"]) =>
    (await fresh.ask("claim_scopes", { scopes, intent: "train", wait: true }, as)).ticket as string;
  const stateOf = async (as: Actor, ticket: string) => (await fresh.ask("get_wait", { ticket }, as)).state;
  let dan: Actor;
  beforeEach(async () => {
    dan = await fresh.worker("dan");
  });

  test.each([0, 1])("whoever is first is offered what holder %i frees, and counts as one who has it", async (nth) => {
    await places(2);
    await claim(ann);
    await claim(ben);
    const ticket = await wait(cat);
    expect(await stateOf(cat, ticket)).toBe("waiting");
    await release([ann, ben][nth] as Actor);
    expect(await stateOf(cat, ticket)).toBe("offered");
    expect(await isFree(dan)).toBe(false);
    expect(await refused(dan)).toMatchObject({
      conflicts: expect.arrayContaining([expect.objectContaining({ reason: "it is offered to the first in line" })]),
    });
    await fresh.ask("accept_wait", { ticket }, cat);
    expect(await fresh.ask("list_scope_capacities", {}, cat)).toMatchObject([{ taken: 2 }]);
  });

  test("more places are offered to it at once", async () => {
    await places(2);
    await claim(ann);
    await claim(ben);
    const [first, second] = [await wait(cat), await wait(dan)];
    await places(3);
    expect([await stateOf(cat, first), await stateOf(dan, second)]).toEqual(["offered", "waiting"]);
    await places(5);
    expect(await stateOf(dan, second)).toBe("offered");
  });

  test("two places at once are offered to two", async () => {
    await places(2);
    await claim(ann);
    await claim(ben);
    const [first, second] = [await wait(cat), await wait(dan)];
    await places(4);
    expect([await stateOf(cat, first), await stateOf(dan, second)]).toEqual(["offered", "offered"]);
  });

  test("who waits for more than the place takes one of them, not all", async () => {
    await places(2);
    await claim(ann, ["path:src"]);
    await wait(cat, ["slot:gpu", "path:src"]);
    await claim(ben);
    expect(await refused(dan)).toMatchObject({
      conflicts: expect.arrayContaining([expect.objectContaining({ reason: "somebody is before you in line" })]),
    });
  });

  test("fewer places take back what was offered beyond them, the last in line first; the others are there to be taken", async () => {
    await places(3);
    for (const as of [ann, ben, cat]) await claim(as);
    const eve = await fresh.worker("eve");
    const [first, second] = [await wait(dan), await wait(eve)];
    await release(ann);
    await release(ben);
    await places(2);
    expect([await stateOf(dan, first), await stateOf(eve, second)]).toEqual(["offered", "waiting"]);
    await fresh.ask("accept_wait", { ticket: first }, dan);
    await release(cat);
    expect(await stateOf(eve, second)).toBe("offered");
  });

  test("who is before one in line for all of them is passed by nobody who wants one of them", async () => {
    await places(2);
    await claim(ann);
    await wait(ben, ["slot:gpu", "slot:*"]);
    expect(await refused(cat)).toMatchObject({ conflicts: [{ holder: { agent_name: "ben" } }] });
  });

  test("who has a place and waits for more with it takes no second one", async () => {
    await places(2);
    await claim(ben, ["path:src"]);
    await claim(ann);
    await wait(ann, ["slot:gpu", "path:src"]);
    expect((await claim(cat)).claims).toHaveLength(1);
  });

  test("who has a place while another is free keeps nobody waiting: it passes none of them, and closes no circle", async () => {
    await places(2);
    await claim(ann);
    await claim(ben, ["path:a"]);
    await wait(cat, ["slot:gpu", "path:a", "path:b"]);
    expect((await refused(ann, ["path:b"])).code).toBe("scope_conflict");
    await claim(dan, ["path:c"]);
    await wait(ann, ["path:c"]);
    // Dan waits for cat, who needs nothing that ann has.
    expect(await stateOf(dan, await wait(dan, ["path:b"]))).toBe("waiting");
  });

  test("a handoff passes it by: what is handed over is free at no instant (R39)", async () => {
    const { claims } = await claim(ann);
    const ticket = await wait(cat);
    const offer = { claim_id: claims[0]?.id as string, to_agent_id: ben.id };
    const { id } = await fresh.ask("handoff_claim", offer, ann);
    await fresh.ask("accept_handoff", { handoff_id: id }, ben);
    expect(await stateOf(cat, ticket)).toBe("waiting");
    await release(ben);
    expect(await stateOf(cat, ticket)).toBe("offered");
  });
});
