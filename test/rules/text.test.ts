import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

/** Field reports here: C70 and C82, as far as what is stored is concerned; how it is shown is the screens' matter. */

const LIVELY = [
  "<img src=x onerror=alert(1)> \" ' & </style><svg/onload=alert(1)>",
  "ok \u001b[2J \u001b]0;x\u0007 \u001b]8;;http://evil.example\u001b\\ link",
  "right \u202e left, zero\u200bwidth, line\r\nbreak, tab\t",
  "café is not cafe\u0301, ﬁ is not fi, 日本語, 👩‍👩‍👧, \uFEFFbom, ＡＢＣ",
  "   blanks at both ends   ",
  "'; DROP TABLE tasks; -- %_\\",
];

describe("text is kept as given (R60)", () => {
  test.each(LIVELY)("wherever an agent writes: %j", async (text) => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const made = await fresh.task({ content: text, description: text, labels: [text], context: { [text]: text } });
    expect(made).toMatchObject({ content: text, description: text, labels: [text], context: { [text]: text } });
    const found = await fresh.next(ann, { labels: [text] });
    expect(found).toMatchObject({ id: made.id, content: text });
    const { id } = made;
    await fresh.ask("heartbeat_task", { task_id: id, progress: text, checkpoint: [text] }, ann);
    await fresh.ask("set_task_state", { task_id: id, state: "errored", detail: text }, ann);
    expect(await fresh.read(id)).toMatchObject({ progress: text, checkpoint: [text], state_detail: text });
    const refused = await fresh.refusal("claim_task", { task_id: id }, fresh.root);
    expect(refused.holder?.intent).toBe(text);
    expect((await fresh.ask("add_comment", { task_id: id, body: text }, ann)).body).toBe(text);
    await fresh.ask("release_task", { task_id: id, handoff: text }, ann);
    expect(await fresh.ask("list_tasks", { label: text }, ann)).toMatchObject([{ handoff_note: text }]);
    expect(await fresh.ask("list_tasks", { search: text.slice(0, 200) }, ann)).toHaveLength(1);
    await fresh.claim(id, ann);
    const done = await fresh.ask("complete_task", { task_id: id, result: { [text]: [text] } }, ann);
    expect(done.result).toEqual({ [text]: [text] });
    await fresh.restart();
    expect(await fresh.read(id)).toMatchObject({ content: text, description: text, result: { [text]: [text] } });
  });

  test("numbers, nesting and empty values come back as they were", async () => {
    const fresh = await FreshStore.open();
    const context = { n: 0.1, big: 9007199254740991, neg: -1e-7, list: [[], {}, null, true, ""], "": { "a.b": 1 } };
    expect((await fresh.task({ context })).context).toEqual(context);
  });

  test.each([
    ["NUL", "a\0b", "NUL"],
    ["half of a surrogate pair", "a\ud800b", "surrogate"],
    ["the other half", "\udc00", "surrogate"],
  ])("%s is refused wherever it stands, naming the field", async (_what, text, said) => {
    const fresh = await FreshStore.open();
    const { id: task_id } = await fresh.task();
    const tries = [
      fresh.refusal("create_task", { content: text }, fresh.root),
      fresh.refusal("create_task", { content: "x", labels: ["ok", text] }, fresh.root),
      fresh.refusal("create_task", { content: "x", context: { a: [{ b: text }] } }, fresh.root),
      fresh.refusal("create_task", { content: "x", context: { [text]: 1 } }, fresh.root),
      fresh.refusal("create_tasks", { tasks: [{ content: "x" }, { content: text }] }, fresh.root),
      fresh.refusal("add_comment", { task_id, body: text }, fresh.root),
      fresh.refusal("complete_task", { task_id, result: text }, fresh.root),
      fresh.refusal("list_tasks", { search: text }, fresh.root),
      fresh.refusal("open_session", { cwd: text }, fresh.root),
    ];
    for (const refused of await Promise.all(tries)) {
      expect(refused.code).toBe("invalid_input");
      expect(refused.message).toContain(said);
      expect(refused.fields).toHaveLength(1);
    }
    expect(await fresh.ask("list_tasks", {}, fresh.root)).toHaveLength(1);
  });

  test.each(["\u200b\u200c\u200d", "\u202e\u202c", "\u0001\u0002", " \t\n", "\u3164", "\u2800", "\u0301", ""])(
    "C82: a title of which nobody sees anything is refused: %j",
    async (content) => {
      const fresh = await FreshStore.open();
      const refused = await fresh.refusal("create_task", { content }, fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "content" }] });
    },
  );

  test("a name that can't be kept is refused, not dropped", async () => {
    const fresh = await FreshStore.open();
    const hostile = JSON.parse('{"content": "x", "context": {"a": {"__proto__": {"b": 1}}}}');
    const refused = await fresh.refusal("create_task", hostile, fresh.root);
    expect(refused.code).toBe("invalid_input");
    expect(refused.message).toContain("__proto__");
    const plain = { toString: "x", hasOwnProperty: [1], valueOf: null } as never;
    expect((await fresh.task({ context: plain })).context).toEqual(plain);
  });
});

describe("what is wrong with a call is said with the field, the limit and the remedy", () => {
  const wrong: readonly [name: string, input: object, field: string, said: RegExp][] = [
    ["no title", {}, "content", /required/],
    ["a title too long", { content: "x".repeat(2001) }, "content", /2000|2,000/],
    ["priority 5", { content: "x", priority: 5 }, "priority", /1\.\.4/],
    ["priority as text", { content: "x", priority: "2" }, "priority", /whole number/],
    ["an unknown field", { content: "x", colour: "red" }, "colour", /not a field.*allowed.*content/],
    ["labels as text", { content: "x", labels: "a,b" }, "labels", /list/],
    ["a label too long", { content: "x", labels: ["x".repeat(101)] }, "labels.0", /100/],
    ["too many labels", { content: "x", labels: Array.from({ length: 1001 }, (_, n) => `l${n}`) }, "labels", /1,000/],
    ["max_attempts 0", { content: "x", max_attempts: 0 }, "max_attempts", /1\.\.100/],
    ["an assignee that is no id", { content: "x", assigned_to_agent_id: "ann" }, "assigned_to_agent_id", /32 hex/],
    ["a context that is a list", { content: "x", context: [] }, "context", /object/],
    ["a status of its own", { content: "x", status: "completed" }, "status", /not a field/],
  ];
  test.each(wrong)("%s", async (_name, input, field, said) => {
    const fresh = await FreshStore.open();
    const refused = await fresh.refusal("create_task", input as never, fresh.root);
    expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field }] });
    expect(refused.message).toMatch(said);
    // In a batch the place is named, and nothing of it is written.
    const batch = await fresh.refusal("create_tasks", { tasks: [{ content: "fine" }, input as never] }, fresh.root);
    expect(batch).toMatchObject({ code: "invalid_input", fields: [{ field: `tasks.1.${field}` }] });
    expect(await fresh.ask("list_tasks", {}, fresh.root)).toEqual([]);
  });

  test("null is as if absent on create and claim, and clears on update", async () => {
    const fresh = await FreshStore.open();
    const nothing = { description: null, labels: null, priority: null, context: null, not_before: null } as never;
    const { id } = await fresh.task(nothing);
    expect(await fresh.read(id)).toMatchObject({ description: null, labels: [], priority: 2, context: null });
    const set = { description: "d", labels: ["a"], context: { a: 1 }, due_date: fresh.time.iso(1) };
    await fresh.ask("update_task", { task_id: id, ...set }, fresh.root);
    const cleared = { description: null, labels: null, context: null, due_date: null };
    expect(await fresh.ask("update_task", { task_id: id, ...cleared }, fresh.root)).toMatchObject({
      ...cleared,
      labels: [],
    });
    for (const field of ["content", "priority", "project_id"]) {
      const refused = await fresh.refusal("update_task", { task_id: id, [field]: null } as never, fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field }] });
    }
  });

  test("an update writes only what it names, and only over the version it read (If-Match)", async () => {
    const fresh = await FreshStore.open();
    const made = await fresh.task({ description: "keep me", labels: ["a"] });
    const on = (ifVersion: number) => ({ ...fresh.root.caller, ifVersion });
    const changed = await fresh.ask("update_task", { task_id: made.id, priority: 4 }, on(made.version));
    expect(changed).toMatchObject({ description: "keep me", labels: ["a"], priority: 4 });
    expect(changed.version).toBeGreaterThan(made.version);
    for (const name of ["update_task", "delete_task"] as const) {
      const refused = await fresh.refusal(name, { task_id: made.id }, on(made.version));
      expect(refused).toMatchObject({ code: "version_mismatch", version: changed.version });
    }
    expect(await fresh.ask("delete_task", { task_id: made.id }, on(changed.version))).toMatchObject({ deleted: true });
  });
});
