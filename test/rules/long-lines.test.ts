import { beforeEach, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/*
 * What is asked inside a write transaction holds off everybody else. The times are ten times what these take here, or more.
 * When each in line was followed anew, the next one behind sixty took 7 s, and a thousand names behind a thousand as long.
 * How many statements it takes: test/round-trips.test.ts.
 */
let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

const HOUR = { ttl_seconds: 3600 };
const claim = (as: Actor, scopes: string[], wait = false) =>
  fresh.answer("claim_scopes", { scopes, intent: "work", wait, ...HOUR }, as);
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
/** A hundred sessions in line for the name that ann holds; each holds something of its own. */
async function lineOfAHundred(): Promise<Actor[]> {
  await fresh.ask("update_workspace", { waits_per_agent_max: 1000 }, fresh.root);
  await claim(ann, ["path:a"]);
  const line: Actor[] = [];
  for (let n = 0; n < 100; n += 1) {
    const each = await fresh.session(ben, HOUR);
    await claim(each, [`port:${n}`]);
    await claim(each, ["path:a"], true);
    line.push(each);
  }
  return line;
}

test("the last of a hundred gets into line as the first does", async () => {
  await lineOfAHundred();
  expect(await msOf(async () => claim(await fresh.session(ben, HOUR), ["path:a"], true))).toBeLessThan(1000);
});

test("a cycle through a line of a hundred is found, and that there is none, without following each anew (R37)", async () => {
  const line = await lineOfAHundred();
  const cat = await fresh.session(ben, HOUR);
  await claim(cat, ["port:free"]);
  // Somebody in line waits for cat, but who is in cat's way doesn't wait for it.
  await claim(line[50] as Actor, ["port:free"], true);
  const ms = await msOf(async () => {
    expect((await claim(cat, ["port:0"], true)).status).toBe(202);
  });
  expect(ms).toBeLessThan(5000);
  const cycle = await fresh.refusal("claim_scopes", { scopes: ["port:99"], intent: "work", wait: true }, ann);
  expect(cycle).toMatchObject({ code: "would_deadlock", cycle: [{ waits_for: "port:99" }, { waits_for: "path:a" }] });
});

test("a thousand names behind a ticket for a thousand", async () => {
  const names = Array.from({ length: 1000 }, (_, n) => `path:a/${n}`);
  await claim(ann, ["path:a"]);
  await claim(ben, names, true);
  const cat = await fresh.session(ben, HOUR);
  const refused = await msOf(() => fresh.refusal("claim_scopes", { scopes: names, intent: "work" }, cat));
  expect(refused).toBeLessThan(5000);
  expect(await msOf(() => claim(cat, names, true))).toBeLessThan(10_000);
});

test("ten that wait for eight things each: the next gets into line, and what becomes free is offered, at once", async () => {
  await claim(ann, ["path:a"]);
  const wait = async (as: Actor) => {
    for (let n = 0; n < 8; n += 1) await claim(as, [`path:a/${n}`], true);
  };
  for (let n = 0; n < 10; n += 1) await wait(await fresh.worker(`worker-${n}`));
  const last = await fresh.worker("last");
  expect(await msOf(() => wait(last))).toBeLessThan(5000);
  expect(await msOf(() => fresh.ask("release_scopes", { all: true }, ann))).toBeLessThan(2000);
  const line = await fresh.ask("list_waits", { limit: 1000 }, ann);
  expect(line.filter(({ state }) => state === "offered").map(({ agent_name }) => agent_name)).toEqual(
    Array.from({ length: 8 }, () => "worker-0"),
  );
});
