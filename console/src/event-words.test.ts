import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { EventRow } from "./event-tail.js";
import { sentenceOf } from "./event-words.js";

const CORE = new URL("../../src/core/", import.meta.url);
/** These are notices: a session is told of them, the log isn't. */
const NOTICES = new Set(["lease.lost", "lease.expiring"]);

function happened(type: string, data: EventRow["data"] = {}): EventRow {
  const actor = { agent_id: "a", agent_name: "ann", session_id: null };
  return { id: "1", type, at: "2026-01-01T12:00:00.000Z", actor, project_id: null, task_id: null, scope: null, data };
}

test("every event that core writes has words on the page", () => {
  const sources = readdirSync(CORE, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const text = sources.map((file) => readFileSync(new URL(file, CORE), "utf8")).join("\n");
  const nouns = "task|scope|branch|lease|plan|recurrence|session|agent|store|stale_write";
  const types = new Set(
    [...text.matchAll(new RegExp(`"((?:${nouns})\\.[a-z_]+)"`, "g"))].map((match) => match[1] ?? ""),
  );
  expect(types.size).toBeGreaterThan(30);
  const bare = [...types].filter(
    (type) => !NOTICES.has(type) && sentenceOf(happened(type), new Map(), undefined).verb === type,
  );
  expect(bare).toEqual([]);
});

test("a verdict is said with the event that carries it", () => {
  const said = (type: string, data: EventRow["data"]) => sentenceOf(happened(type, data), new Map(), undefined);
  expect(said("task.judged", { verdict: "fail" })).toMatchObject({ verb: "gave a failing verdict on", tone: "hot" });
  expect(said("task.completed", { verdict: "pass" })).toMatchObject({ tone: "calm" });
  expect(said("task.completed", {})).toMatchObject({ verb: "completed" });
});

test("what has no words is shown by its name, and a plan or a recurrence by its own", () => {
  const said = (type: string, data: EventRow["data"]) => sentenceOf(happened(type, data), new Map(), undefined);
  expect(said("made.up", {})).toMatchObject({ actor: "ann", verb: "made.up", object: undefined });
  expect(said("plan.created", { plan: "release" })).toMatchObject({ verb: "made a plan", object: "release" });
  expect(said("recurrence.created", { name: "nightly" })).toMatchObject({ object: "nightly" });
  expect(said("branch.moved", { branch: "main", commit: "ab" })).toMatchObject({ object: "main" });
  expect(said("task.created", { content: "Ship", plan: "release" })).toMatchObject({ object: "Ship" });
});
