import { describe, expect, onTestFinished, test } from "vitest";
import { FreshStore, type Input } from "../support/fresh-store.js";

/** Field reports here: C30 (worktrees taken for projects, as the server has it; test/repositories.test.ts has the rest). */

type Told = Input<"project_for_repository">;

const ROOT = "a".repeat(40);
const FIRST = { remote: "git@example.org:acme/first.git" };
const SHOP = { remote: "https://example.org/acme/shop.git" };

async function workspace() {
  const fresh = await FreshStore.open();
  const ann = await fresh.worker("ann");
  const key = async (told: Told) => (await fresh.ask("project_for_repository", told, ann)).key;
  return { fresh, ann, key };
}

describe("a repository's project (R64)", () => {
  test("the first repository of a workspace is the default project's, each further one has a project of its own", async () => {
    const { fresh, ann, key } = await workspace();
    expect(await key(FIRST)).toBe("default");
    expect(await key(SHOP)).toBe("shop");
    expect(await key({ remote: "https://example.org/others/shop" })).toBe("shop-2");
    expect(await key({ remote: "ssh://ann@example.org:22/acme/first" })).toBe("default");
    const projects = await fresh.ask("list_projects", {}, ann);
    expect(projects.map(({ key, name, repositories }) => [key, name, ...repositories])).toEqual([
      ["default", "default", "example.org/acme/first"],
      ["shop", "shop", "example.org/acme/shop"],
      ["shop-2", "shop", "example.org/others/shop"],
    ]);
    expect(await fresh.ask("get_project", { project_id: "shop" }, ann)).toEqual(projects[1]);
  });

  test("a project that is made answers 201, one that is found 200, and nothing is written then", async () => {
    const { fresh, ann } = await workspace();
    const status = async (told: Told) => (await fresh.answer("project_for_repository", told, ann)).status;
    expect(await status({ ...FIRST, root_commit: ROOT })).toBe(200);
    expect(await status(SHOP)).toBe(201);
    const before = await fresh.kept.rows("SELECT * FROM repositories ORDER BY seq");
    expect(await status(SHOP)).toBe(200);
    expect(await status({ ...FIRST, root_commit: ROOT.toUpperCase() })).toBe(200);
    expect(await fresh.kept.rows("SELECT * FROM repositories ORDER BY seq")).toEqual(before);
  });

  test("one that had no remote stays in its project when it gets one, by whichever it is told from then on", async () => {
    const { key } = await workspace();
    await key(FIRST);
    expect(await key({ root_commit: ROOT, name: "web" })).toBe("web");
    expect(await key({ ...SHOP, root_commit: ROOT })).toBe("web");
    expect(await key(SHOP)).toBe("web");
    expect(await key({ root_commit: ROOT })).toBe("web");
  });

  test("a fork is no clone: the same first commit with another remote is a project of its own", async () => {
    const { key } = await workspace();
    expect(await key({ ...FIRST, root_commit: ROOT })).toBe("default");
    expect(await key({ remote: "git@example.org:ben/fork.git", root_commit: ROOT })).toBe("fork");
    expect(await key({ root_commit: ROOT })).toBe("default");
    expect(await key({ remote: "git@example.org:ben/fork.git" })).toBe("fork");
  });

  test("a clone of a folder is that folder's project, also when it gets a remote that all reach", async () => {
    const { key } = await workspace();
    await key(FIRST);
    expect(await key({ root_commit: ROOT, name: "web" })).toBe("web");
    expect(await key({ remote: "/home/ann/web", root_commit: ROOT })).toBe("web");
    expect(await key({ ...SHOP, root_commit: ROOT })).toBe("web");
    expect(await key({ remote: "file:///home/ann/web/.git" })).toBe("web");
    expect(await key({ remote: "git@example.org:ben/fork.git", root_commit: ROOT })).toBe("fork");
  });

  test("a repository that names its project gets that one, and its branches without the name follow", async () => {
    const { fresh, ann, key } = await workspace();
    await key(FIRST);
    await key(SHOP);
    expect(await key({ ...SHOP, project: "store" })).toBe("store");
    expect(await key(SHOP)).toBe("store");
    // Two repositories in one project; the second is not the first's fork for all that.
    expect(await key({ remote: "git@example.org:acme/api.git", root_commit: ROOT, project: "store" })).toBe("store");
    expect(await key({ remote: "git@example.org:acme/api.git" })).toBe("store");
    expect(await key({ project: "store" })).toBe("store");
    const store = await fresh.ask("get_project", { project_id: "store" }, ann);
    expect(store.repositories).toEqual(["example.org/acme/shop", "example.org/acme/api", `root:${ROOT}`]);
    expect((await fresh.ask("get_project", { project_id: "shop" }, ann)).repositories).toEqual([]);
  });

  test("a project that was named for its repository leaves the default one to the next that isn't", async () => {
    const { key } = await workspace();
    expect(await key({ project: "notes" })).toBe("notes");
    expect(await key(FIRST)).toBe("default");
  });

  test("each workspace has its own: another's repository is an unknown one (R47)", async () => {
    const { fresh, key } = await workspace();
    await key(FIRST);
    expect(await key(SHOP)).toBe("shop");
    await fresh.store.createWorkspace("other");
    const zoe = { identity: { kind: "file", agent: "zoe", workspace: "other" } } as const;
    expect(await fresh.ask("list_projects", { repository: SHOP.remote }, zoe)).toEqual([]);
    expect((await fresh.ask("project_for_repository", SHOP, zoe)).key).toBe("default");
  });

  test("a key is made of any name, and never somebody else's", async () => {
    const { fresh, ann, key } = await workspace();
    await key(FIRST);
    await fresh.ask("create_project", { key: "shop" }, fresh.root);
    expect(await key(SHOP)).toBe("shop-2");
    expect(await key({ root_commit: ROOT, name: "Mein Laden (neu)" })).toBe("Mein-Laden-neu");
    const shown = await fresh.ask("list_projects", { repository: `root:${ROOT}` }, ann);
    expect(shown).toMatchObject([{ name: "Mein Laden (neu)" }]);
    expect(await key({ root_commit: "b".repeat(40), name: "магазин" })).toBe("repository");
    expect(await key({ root_commit: "c".repeat(40), name: "x".repeat(200) })).toBe("x".repeat(92));
  });

  test("what tells no repository is refused by field, and binds nothing", async () => {
    const { fresh, ann } = await workspace();
    const wrong: readonly [Told, string][] = [
      [{}, "remote"],
      [{ name: "shop" }, "remote"],
      [{ remote: "../shop" }, "remote"],
      [{ remote: "" }, "remote"],
      [{ root_commit: "abc" }, "root_commit"],
      [{ project: "a b" }, "project"],
    ];
    for (const [told, field] of wrong) {
      const refused = await fresh.refusal("project_for_repository", told, ann);
      expect(refused, JSON.stringify(told)).toMatchObject({ code: "invalid_input", fields: [{ field }] });
    }
    expect(await fresh.kept.rows("SELECT * FROM repositories")).toEqual([]);
  });
});

test("of repositories first seen at one instant by several processes one is the default's, and each has one project (R57)", async () => {
  const fresh = await FreshStore.open();
  const stores = [fresh.store, await fresh.another(), await fresh.another()];
  onTestFinished(async () => void (await Promise.all(stores.slice(1).map((store) => store.close()))));
  for (let round = 0; round < 10; round += 1) {
    const told = Array.from({ length: 12 }, (_, at) => {
      const nth = `${round}-${at % 4}`;
      return at % 2 ? { remote: `git@example.org:acme/r${nth}.git` } : { remote: `https://example.org/acme/r${nth}` };
    });
    const found = await Promise.all(
      told.map((each, at) => fresh.ask("project_for_repository", each, fresh.root, stores[at % 3])),
    );
    for (const [at, { id }] of found.entries()) expect(id).toBe(found[at % 4]?.id);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
    expect(found.filter(({ key }) => key === "default")).toHaveLength(round === 0 ? 3 : 0);
  }
  expect(await fresh.ask("list_projects", { limit: 1000 }, fresh.root)).toHaveLength(40);
  expect(await fresh.kept.broken()).toEqual([]);
});
