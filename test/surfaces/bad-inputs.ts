import { badEvidence } from "./bad-evidence.js";
import { badPlans } from "./bad-plans.js";
import { type Bad, BODY, deep, many, SOME_ID, SOMEBODY, text, theTask, titled, wrong } from "./mistakes.js";

const RANGE = /lease_seconds: must be 30\.\.3600 in this workspace, not /;
const SECONDS = /lease_seconds: must be a whole number of seconds, 30\.\.3600 unless the workspace has another range/;
const lease = (values: readonly string[], says: RegExp, more: Partial<Bad> = {}) =>
  wrong("claim_next_task", "lease_seconds", values, says, more);
const leases: Bad[] = [
  ...lease(["29", "3601", "1e12", "-5", "0"], RANGE),
  ...lease(["0.5", "1e400", "true", "[]", "{}", '"soon"', '""'], SECONDS),
  // Clients of MCP send numbers as text.
  ...lease(['"300"'], SECONDS, { not: ["MCP"] }),
  ...lease(["NaN", "Infinity", "0x12c"], /must be (JSON; it goes wrong at position 17|one JSON object)/, {
    field: BODY,
    not: ["MCP"],
  }),
  ...wrong("heartbeat_task", "lease_seconds", ["29", "3601"], RANGE, theTask),
  ...wrong("claim_task", "lease_seconds", ["3601"], RANGE, theTask),
];

const numbers: Bad[] = [
  ...wrong("create_task", "priority", ["0", "5", "-1", "1e400"], /priority: must be a whole number, 1\.\.4/, titled),
  ...wrong(
    "create_task",
    "priority",
    ["2.5", '"high"', "true", "[4]"],
    /priority: must be a whole number, 1\.\.4/,
    titled,
  ),
  ...wrong(
    "create_task",
    "max_attempts",
    ["0", "101", "1.5"],
    /max_attempts: must be a whole number, 1\.\.100/,
    titled,
  ),
  ...wrong("claim_next_task", "count", ["0", "101", "1.5", '"all"'], /count: must be a whole number, 1\.\.100/, {
    not: ["MCP"],
  }),
  ...wrong(
    "claim_next_task",
    "wait_seconds",
    ["-1", "61", "0.5"],
    /wait_seconds: must be a whole number of seconds, 0\.\.60/,
  ),
  ...wrong(
    "open_session",
    "ttl_seconds",
    ["29", "86401", "1.5"],
    /ttl_seconds: must be a whole number of seconds, 30\.\.86400/,
  ),
  ...wrong(
    "complete_task",
    "fence",
    ["0", "-1", "1.5"],
    /fence: must be the whole number that the claim gave/,
    theTask,
  ),
  ...wrong("list_tasks", "limit", ["0", "1001", "-1", "2.5", '"ten"'], /limit: must be a whole number, 1\.\.1000/),
  ...wrong(
    "rotate_agent_key",
    "grace_seconds",
    ["-1", "604801"],
    /grace_seconds: must be a whole number of seconds, 0\.\.604800/,
    {
      path: { agent_id: SOMEBODY },
    },
  ),
  ...wrong(
    "update_workspace",
    "lease_seconds_max",
    ["0", "86401", '"long"'],
    /lease_seconds_max: must be a whole number of seconds, 1\.\.86400/,
  ),
  ...wrong(
    "update_workspace",
    "claims_per_agent_max",
    ["0", "1000001"],
    /claims_per_agent_max: must be a whole number, 1\.\.1000000/,
  ),
  ...wrong("update_workspace", "max_attempts", ["null"], /max_attempts: .*can't be cleared/),
];

const INVISIBLE = [
  "\u200b",
  "\u0007\u001b",
  "\u2060\ufeff",
  "\u202e\u202c",
  "\u3164",
  "\u2800",
  "\u0301",
  " ",
  "\n\t\u00a0",
];
const VISIBLE_WANTED = /must contain something visible/;
const texts: Bad[] = [
  ...wrong(
    "create_task",
    "content",
    INVISIBLE.map((each) => JSON.stringify(each)),
    VISIBLE_WANTED,
  ),
  ...wrong("create_task", "content", ['""'], /content: must not be empty/),
  ...wrong("create_task", "content", [text(2001)], /content: must have at most 2000 characters/),
  ...wrong("create_task", "content", ["7", "[]", "{}", "true"], /content: must be text/, { not: ["CLI"] }),
  ...wrong(
    "create_task",
    "description",
    [text(1_000_001)],
    /description: must have at most 1000000 characters/,
    titled,
  ),
  ...wrong("add_comment", "body", ['"\\u200b"', '""'], /body: must (contain something visible|not be empty)/, theTask),
  ...wrong("release_task", "handoff", ['"\\t"'], VISIBLE_WANTED, theTask),
  ...wrong("cancel_task", "reason", [text(1001)], /reason: must have at most 1000 characters/, theTask),
  ...wrong(
    "create_agent",
    "name",
    ['""', '"a b"', '"ünï"', '"a/b"', text(65)],
    /name: must be 1\.\.64 of letters, digits/,
  ),
  ...wrong("create_project", "key", ['""', '"a b"', text(101)], /key: must be 1\.\.100 of letters, digits/),
  ...wrong(
    "add_link",
    "url",
    ['"javascript:alert(1)"', '"ftp://x/y"', '"x"'],
    /url: must be an http or https address/,
    theTask,
  ),
  ...wrong("add_link", "url", [`"https://x/${"y".repeat(2000)}"`], /url: must have at most 2,000 characters/, theTask),
  ...wrong(
    "create_task",
    "due_date",
    ['"tomorrow"', '"2026-01-01"', '"2026-13-01T00:00:00Z"', '"2026-01-01T12:00:00"'],
    /due_date: must be a time with a zone, as 2026-01-31T12:00:00Z/,
    titled,
  ),
  ...wrong("list_events", "after", ['"abc"', '"-1"', text(16)], /after: must be an event's id/),
];

const lists: Bad[] = [
  ...wrong("create_tasks", "tasks", ["[]"], /tasks: must hold at least one task/),
  ...wrong("create_tasks", "tasks", [many(1001, '{"content":"x"}')], /tasks: must hold at most 1,000 tasks/),
  ...wrong("create_tasks", "tasks", ["{}", "7"], /tasks: must be (a list|an array)/),
  ...wrong("create_task", "labels", [many(1001, '"x"')], /labels: must have at most 1,000/, titled),
  ...wrong("create_task", "labels", ["7", "{}"], /labels: must be (a list|an array)/, titled),
  ...wrong("create_task", "labels", ['"web"', '"[\\"web\\"]"'], /labels: must be a list/, { ...titled, not: ["MCP"] }),
  ...wrong("create_task", "labels", [`[${text(101)}]`], /labels\.0: must have at most 100 characters/, {
    ...titled,
    field: "labels.0",
  }),
  ...wrong("create_task", "labels", ['[""]'], /labels\.0: must not be empty/, { ...titled, field: "labels.0" }),
  ...wrong("create_task", "labels", ["[7]", "[null]"], /labels\.0: must be text/, { ...titled, field: "labels.0" }),
  ...wrong("ack_notices", "ids", ["[]"], /ids: must name at least one/),
  ...wrong("ack_notices", "ids", [many(1001, `"${SOME_ID}"`)], /ids: must have at most 1000/),
  ...wrong("list_events", "types", [many(101, '"x"')], /types: must have at most 100/),
];

const NOT_AN_ID = /must be an id: 32 hexadecimal digits/;
const ids: Bad[] = [
  ...["xyz", "0123456789ABCDEF0123456789ABCDEF", `${SOME_ID}0`, "a/../b", "🦉", "..%2f"].map(
    (task_id): Bad => ({
      what: `the id ${task_id}`,
      operation: "claim_task",
      json: "{}",
      path: { task_id },
      field: "task_id",
      says: NOT_AN_ID,
    }),
  ),
  ...wrong("complete_task", "lease_id", ['"mine"', "7"], /lease_id: must be (an id|text)/, theTask),
  ...wrong("create_task", "assigned_to_agent_id", ['"bob"'], NOT_AN_ID, titled),
  ...wrong("list_tasks", "assigned_to", ['"bob"'], NOT_AN_ID),
];

const choices: Bad[] = [
  ...wrong(
    "heartbeat_task",
    "state",
    ['"sleeping"', "7"],
    /state: must be one of working, waiting_input, errored/,
    theTask,
  ),
  ...wrong(
    "list_tasks",
    "status",
    ['"done"'],
    /status: must be one of open, claimed, delegated, completed, failed, cancelled/,
  ),
  ...wrong("list_tasks", "ready", ['"yes"', "7"], /ready: must be true or false/),
  ...wrong("claim_task", "takeover", ['"yes"', "1"], /takeover: must be true or false/, theTask),
  ...wrong("create_agent", "role", ['"god"'], /role: must be one of worker, coordinator, admin/, {
    with: '"name":"x"',
  }),
  ...wrong("add_link", "kind", ['"virus"'], /kind: must be one of pull_request, commit/, {
    ...theTask,
    with: '"url":"https://x.org"',
  }),
];

const ALLOWED = /(is not a field of [a-z_]+|unknown); allowed/;
const NO_NAME = /is a name that no field may have; choose another/;
const unknown: Bad[] = [
  ...wrong("create_task", "colour", ['"red"'], ALLOWED, titled),
  ...wrong("create_task", "__proto__", ['{"priority":4}'], NO_NAME, titled),
  ...wrong("create_task", "constructor", ['{"prototype":{}}'], NO_NAME, titled),
  ...wrong("claim_next_task", "lease", ["300"], ALLOWED),
  ...wrong("claim_next_task", "agent_id", [`"${SOME_ID}"`], ALLOWED),
  ...wrong("list_tasks", "colour", ['"red"'], ALLOWED),
  ...wrong("create_task", "context", ['{"__proto__":{"x":1}}'], NO_NAME, { ...titled, field: "context.__proto__" }),
  ...wrong("create_task", "context", ['{"a":[{"constructor":1}]}'], NO_NAME, {
    ...titled,
    field: "context.a.0.constructor",
  }),
];

const TOO_DEEP = /must not be nested deeper than 32 levels/;
const shapes: Bad[] = [
  ...["[]", '"text"', "7", "null", "true"].map(
    (json): Bad => ({
      what: `${json} instead of fields`,
      operation: "create_task",
      json,
      field: BODY,
      says: /must be (a|one) JSON object/,
      not: ["MCP"],
    }),
  ),
  ...["{", '{"content":}', "{'content':'x'}", '{"content":"x",}', '{"content":"x"}}', "\ufeff{}", "content=x"].map(
    (json): Bad => ({
      what: `the text ${json}, which is no JSON`,
      operation: "create_task",
      json,
      field: BODY,
      says: /must be (JSON; it (goes wrong|ends too early)|one JSON object)/,
      not: ["MCP"],
    }),
  ),
  ...wrong("create_task", "context", [`{"a":${deep(33)}}`], TOO_DEEP, { ...titled, field: "context.a.0" }),
  ...wrong("complete_task", "result", [deep(40), deep(100_000)], TOO_DEEP, { ...theTask, field: "result.0.0" }),
  ...wrong("create_task", "context", ["[]", '"x"', "7"], /context: must be an object/, titled),
];

const cursors: Bad[] = [
  ...wrong(
    "list_tasks",
    "cursor",
    ['"nonsense"', '""', '"WzEsMl0"'],
    /cursor: was not made by this list; start again without/,
    {
      code: "invalid_cursor",
    },
  ),
  ...wrong("list_tasks", "cursor", [text(501)], /cursor: must have at most 500 characters/),
];

const recurring = { path: { name: "n", content: "x" } };
const recurs = (field: string, values: readonly string[], says: RegExp, beside = '"cron":"@daily"') =>
  wrong("create_recurrence", field, values, says, { ...recurring, with: `"name":"n","content":"x",${beside}` });
const UTC = '"time_zone":"UTC"';
const schedules: Bad[] = [
  ...recurs("cron", ['"daily"', '"* * * *"', '"* * * * * *"', '"@reboot"'], /cron: must be five fields, minute/, UTC),
  ...recurs("cron", ['"60 * * * *"'], /cron: must be five fields.*Invalid value for minute: 60/, UTC),
  ...recurs("cron", ['"0 0 30 2 *"'], /cron: never comes: no date has the day and month of "0 0 30 2 \*"/, UTC),
  ...recurs("cron", [text(101)], /cron: must have at most 100 characters/, UTC),
  ...recurs("time_zone", ['"Mars/Olympus"', '"+02:00"'], /time_zone: must be a zone of the IANA database, as Europe/),
  ...recurs("name", ['"\\u200b"', text(101)], /name: must (contain something visible|have at most 100)/),
  ...recurs("skip_if_open", ['"yes"', "1"], /skip_if_open: must be true or false/),
];

const GROUPS = [
  leases,
  numbers,
  texts,
  lists,
  badPlans,
  badEvidence,
  ids,
  choices,
  unknown,
  shapes,
  cursors,
  schedules,
];

export const BAD_INPUTS: readonly Bad[] = GROUPS.flat();

/** The leases that people get wrong, and the first of each way to be wrong. */
export const BY_COMMAND: readonly Bad[] = GROUPS.flatMap((group) => {
  const sayable = group.filter((bad) => !bad.not?.includes("CLI"));
  const wanted =
    /^lease_seconds (29|3601|1e12|"300"|0\.5)$|no JSON|instead of fields|^context|^content|^verdict|^evidence|^commit/;
  return sayable.filter((bad, at) => {
    const alike = (other: Bad) => other.operation === bad.operation && String(other.says) === String(bad.says);
    return at === 0 || (wanted.test(bad.what) && (group === leases || sayable.findIndex(alike) === at));
  });
});
