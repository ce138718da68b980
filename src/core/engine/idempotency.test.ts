import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { operations } from "../../contract/operations.js";
import { type OpenStore, open } from "../../index.js";

const identity = { kind: "file", agent: "boss" } as const;
let dir: string;
let store: OpenStore;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "dibs-idempotency-"));
  store = await open({ store: `sqlite:${join(dir, "dibs.db")}` });
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** All that the store has written, in its files. */
const written = () =>
  readdirSync(dir)
    .map((name) => readFileSync(join(dir, name), "latin1"))
    .join("");

test("a key that was made under an Idempotency-Key is given again to a repeat, and stands nowhere in the store (R48, R59)", async () => {
  const idempotencyKey = "a-key-for-repeats-that-nobody-guesses";
  const add = () => store.call(operations.create_agent, { name: "builder" }, { identity, idempotencyKey });
  const first = await add();
  const again = await add();
  expect(again.replayed).toBe(true);
  expect(again.body).toEqual(first.body);
  const rotate = () =>
    store.call(operations.rotate_agent_key, { agent_id: first.body.id }, { identity, idempotencyKey });
  const { key } = (await rotate()).body;
  expect((await rotate()).body.key).toBe(key);
  expect(written()).toContain("builder");
  for (const secret of [first.body.key, key, idempotencyKey]) expect(written()).not.toContain(secret);
});
