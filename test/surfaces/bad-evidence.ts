import { type Bad, text, theTask, wrong } from "./mistakes.js";

const HASH = /must be a commit's hash: 7\.\.64 hexadecimal digits, in lower case/;
const entry = (fields: string) => `[{"kind":"check",${fields}}]`;
const evidence = (values: readonly string[], says: RegExp, field: string) =>
  wrong("complete_task", "evidence", values, says, { ...theTask, field });

/** What is wrong with verdicts, evidence, heads and contexts. */
export const badEvidence: readonly Bad[] = [
  ...wrong("complete_task", "verdict", ['"maybe"', "7", "true"], /verdict: must be one of pass, fail/, theTask),
  ...wrong(
    "complete_task",
    "commit",
    ['"HEAD"', '"abc123"', '"ABCDEF12"', text(65)],
    /commit: must be a commit's hash/,
    {
      ...theTask,
      with: '"verdict":"pass"',
    },
  ),
  ...wrong("complete_task", "branch", ['"main"'], /branch: needs commit: the one on it/, {
    ...theTask,
    with: '"verdict":"pass"',
  }),
  ...wrong("judge_task", "verdict_note", ['"why"'], /verdict_note: needs a verdict/, theTask),
  ...wrong("judge_task", "evidence", ["[]"], /verdict: is required, or evidence/, { ...theTask, field: "verdict" }),
  ...evidence(["{}", "7"], /evidence: must be (a list|an array)/, "evidence"),
  ...evidence(
    ['[{"ref":"x"}]', '[{"kind":"proof","ref":"x"}]'],
    /evidence\.0\.kind: (is required|must be one of commit)/,
    "evidence.0.kind",
  ),
  ...evidence(['[{"kind":"check"}]'], /evidence\.0: must say at least one of ref, url, detail/, "evidence.0"),
  ...evidence(
    ['[{"kind":"commit","ref":"main"}]', '[{"kind":"commit","url":"https://x.org"}]'],
    HASH,
    "evidence.0.ref",
  ),
  ...evidence(
    [entry('"url":"file:///etc/passwd"')],
    /evidence\.0\.url: must be an http or https address/,
    "evidence.0.url",
  ),
  ...evidence(
    [entry(`"ref":"x","detail":${text(4001)}`)],
    /detail: must have at most 4000 characters/,
    "evidence.0.detail",
  ),
  ...evidence(
    [`[${Array(21).fill('{"kind":"check","ref":"x"}').join(",")}]`],
    /evidence: must have at most 20/,
    "evidence",
  ),
  ...wrong(
    "report_head",
    "commit",
    ['"main"', '"abcdef1"', text(40)],
    /commit: must be a commit's whole hash: 40 or 64/,
    {
      with: '"branch":"main"',
    },
  ),
  ...wrong("report_head", "branch", ['""', '"\\u200b"', '"x\\u001b]0;y\\u0007"', text(256)], /branch: must /, {
    with: `"commit":"${"a".repeat(40)}"`,
  }),
  ...wrong("create_task", "requires_verdict", ['"yes"', "1"], /requires_verdict: must be true or false/, {
    with: '"content":"a title"',
  }),
  ...wrong("list_tasks", "verdict", ['"maybe"'], /verdict: must be one of pass, fail, stale, none/, { not: ["MCP"] }),
  ...wrong("change_task_context", "context", ["[]", '"x"', "7"], /context: must be an object/, theTask),
  ...wrong(
    "change_task_context",
    "context",
    [`{"big":${text(100_000)}}`],
    /context: must have at most 100,000 characters as JSON/,
    {
      ...theTask,
      not: ["CLI"],
    },
  ),
  ...wrong("change_task_context", "context", ['{"a":{"constructor":null}}'], /is a name that no field may have/, {
    ...theTask,
    field: "context.a.constructor",
  }),
  ...wrong(
    "change_task_context",
    "expected_version",
    ["-1", "0.5"],
    /expected_version: must be a version of the context/,
    {
      ...theTask,
      with: '"context":{}',
    },
  ),
];
