import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Field reports of kind "path overlap" in full, as the grammar of scopes (R29, R30) has them: C32, C33, C35, C36. */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

type Mode = "exclusive" | "shared";
const claim = (as: Actor, scopes: Input<"claim_scopes">["scopes"], mode: Mode = "exclusive") =>
  fresh.ask("claim_scopes", { scopes, mode, intent: "mend it" }, as);
const refused = (as: Actor, scopes: Input<"claim_scopes">["scopes"]) =>
  fresh.refusal("claim_scopes", { scopes, intent: "mend it" }, as);
const release = (as: Actor) => fresh.ask("release_scopes", { all: true }, as);

/** What comes of asking for each alone: `ok`, or the code of the refusal. Nothing is left held. */
async function outcomes(as: Actor, scopes: readonly string[], mode: Mode = "exclusive") {
  const ended: Record<string, string> = {};
  for (const scope of scopes) {
    ended[scope] = await claim(as, [scope], mode).then(
      () => "ok",
      (thrown) => thrown.code as string,
    );
    await release(as);
  }
  return ended;
}
const CONFLICT = "scope_conflict";
const WRONG = "invalid_scope";

describe("C32: several names in one claim", () => {
  test("are granted together or not at all, and one foreign claim in their way is told once, with all that it met", async () => {
    const { claims } = await claim(ben, ["path:internal/cli"]);
    const conflict = await refused(ann, ["path:internal", "path:internal/cli", "path:docs"]);
    expect(conflict).toMatchObject({ code: CONFLICT, conflicts_count: 1 });
    expect(conflict.conflicts).toMatchObject([
      {
        requested: "path:internal",
        also_requested: ["path:internal/cli"],
        holder: { id: claims[0]?.id, agent_name: "ben" },
      },
    ]);
    expect(await fresh.ask("list_claims", {}, fresh.root)).toMatchObject([{ agent_name: "ben" }]);
    expect(await fresh.ask("check_scope", { scope: "path:docs" }, ann)).toMatchObject({ free: true, held: false });
    await release(ben);
    expect((await claim(ann, ["path:internal", "path:internal/cli", "path:docs"])).claims).toHaveLength(3);
  });
});

const C33: Readonly<Record<string, string>> = {
  "path:src/apple": "ok",
  "path:src/app/main.ts": CONFLICT,
  "path:src": CONFLICT,
  "path:src/app": CONFLICT,
  "kb:src/app": "ok",
  "path:source": "ok",
  "issue:42": CONFLICT,
  "issue:421": "ok",
  "issue:42/a": WRONG,
  "bogus:x": WRONG,
};

test("C33: names overlap by whole segments, in both directions, within a kind; flat kinds have no parts", async () => {
  await claim(ann, ["path:src/app", "issue:42"]);
  expect(await outcomes(ben, Object.keys(C33))).toEqual(C33);
  await release(ann);
  await claim(ann, ["path:src/app", "issue:42"], "shared");
  const beside = Object.entries(C33).map(([scope, outcome]) => [scope, outcome === CONFLICT ? "ok" : outcome]);
  expect(await outcomes(ben, Object.keys(C33), "shared")).toEqual(Object.fromEntries(beside));
});

/** R29 resolves nothing: what C35 would have read as another spelling of path:src/a is refused with the remedy instead. */
const C35: Readonly<Record<string, string>> = {
  "path:src/a": CONFLICT,
  "path:src/a/": WRONG,
  "path:src//a": WRONG,
  "path:./src/a": WRONG,
  "path:src/./a": WRONG,
  "path:/src/a": WRONG,
  "path:src\\a": WRONG,
  "path:src/b/../a": WRONG,
  "path:..\\..\\etc": WRONG,
  "path:src/%2e%2e/x": "ok",
  "path:C:\\src\\a": WRONG,
  "path:C:/src/a": WRONG,
  " path:src/a ": WRONG,
  "path:src/a\t": WRONG,
};

test("C35: another spelling of a file's name is never another name: it is refused, and climbs out of nothing", async () => {
  await claim(ann, ["path:src/a"]);
  expect(await outcomes(ben, Object.keys(C35))).toEqual(C35);
  // NUL, as everywhere in a text.
  expect((await refused(ben, ["path:src/a\0"])).code).toMatch(/^invalid_/);
  const { claims } = await claim(ben, ["path:src/%2e%2e/x"]);
  expect(claims).toMatchObject([{ scope: "path:src/%2e%2e/x" }]);
});

const C36: Readonly<Record<string, string>> = {
  "path:src/a.ts": CONFLICT,
  "path:src/a/b.ts": CONFLICT,
  "path:**/*.test.ts": CONFLICT,
  "path:src/*.md": "ok",
  "path:src": CONFLICT,
  "path:lib/**": "ok",
  "path:src/[a-z].ts": CONFLICT,
  "path:src/{a,b}.ts": CONFLICT,
  "path:**": CONFLICT,
  "path:src/**bad": WRONG,
};

test("C36: patterns overlap where some name is covered by both, and whoever comes first is the same to both", async () => {
  const pattern = "path:src/**/*.ts";
  await claim(ann, [pattern]);
  expect(await outcomes(ben, Object.keys(C36))).toEqual(C36);
  await release(ann);
  for (const [scope, outcome] of Object.entries(C36)) {
    if (outcome === WRONG) continue;
    await claim(ben, [scope]);
    expect(await outcomes(ann, [pattern]), scope).toEqual({ [pattern]: outcome });
    await release(ben);
  }
});

test("C36: a pattern of two hundred stars is answered at once, also beside its like", async () => {
  const stars = (letter: string) =>
    `path:${Array(4)
      .fill(`${`*${letter}`.repeat(50)}*`)
      .join("/")}`;
  await claim(ann, [stars("a")]);
  const startedAt = performance.now();
  expect(await outcomes(ben, [stars("b"), `path:${"a".repeat(200)}/x/x/y`])).toMatchObject({ [stars("b")]: CONFLICT });
  // The decision takes 5 ms at most (src/core/scopes/scope-time.test.ts); this is the whole of six calls on a busy machine.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
