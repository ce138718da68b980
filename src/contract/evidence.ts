import { z } from "zod";
import { text, visibleText } from "./fields.js";

const EVIDENCE_KIND = ["commit", "pull_request", "check", "artifact", "output"] as const;
export const VERDICT = ["pass", "fail"] as const;

/** Entries of one call, and of one task. */
const EVIDENCE_AT_ONCE = 20;
export const EVIDENCE_MAX = 50;

const HASH = /^[0-9a-f]{7,64}$/;
const A_HASH = "must be a commit's hash: 7..64 hexadecimal digits, in lower case";

/** Git has no branch with a control character in its name. */
export const branchName = visibleText(255).refine((name) => !/\p{Cc}/u.test(name), "must have no control characters");
/** What a branch's head is named by, so that a shortened hash can be told from another commit's. */
export const WHOLE_HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
export const A_WHOLE_HASH =
  "must be a commit's whole hash: 40 or 64 hexadecimal digits, as git rev-parse HEAD prints it";

const newEvidence = z
  .strictObject({
    kind: z.enum(EVIDENCE_KIND),
    ref: visibleText(500)
      .optional()
      .describe("What it is called: a commit's hash, a pull request's number, a check's name, a path, a command."),
    url: z
      .url({ protocol: /^https?$/, message: "must be an http or https address" })
      .max(2000, "must have at most 2,000 characters")
      .optional(),
    title: visibleText(500).optional(),
    detail: text(4000).optional().describe("What it says, as the end of an output."),
  })
  .superRefine(({ kind, ref, url, detail }, mistakes) => {
    const wrong = (path: string[], message: string) => mistakes.addIssue({ code: "custom", path, message });
    if (kind === "commit") {
      if (ref === undefined || !HASH.test(ref)) wrong(["ref"], A_HASH);
    } else if (ref === undefined && url === undefined && detail === undefined) {
      wrong([], "must say at least one of ref, url, detail");
    }
  });

/** What may be said of a result when it is delivered, and by others later. */
export const said = {
  evidence: z
    .array(newEvidence)
    .max(EVIDENCE_AT_ONCE, `must have at most ${EVIDENCE_AT_ONCE} entries`)
    .optional()
    .describe("What shows the result: commits, pull requests, checks, artifacts, outputs."),
  verdict: z.enum(VERDICT).optional().describe("How the result is judged; the last verdict counts."),
  verdict_note: visibleText(4000).optional().describe("Why it is judged so."),
  commit: z
    .string()
    .regex(HASH, A_HASH)
    .optional()
    .describe("The commit that verdict and evidence are about; without it they never read stale."),
  branch: branchName
    .optional()
    .describe("The branch of that commit: when its head is another commit, they read `stale`."),
  is_head: z
    .boolean()
    .optional()
    .describe(
      "true: the commit is the branch's head now; what was said of its other commits reads `stale` from here on.",
    ),
} as const;

const tied = {
  commit: z.string().nullable().describe("The commit it is about."),
  branch: z.string().nullable(),
  stale: z.boolean().describe("The branch's head is known to be another commit now."),
  agent_id: z.string(),
  created_at: z.string(),
} as const;

export const evidence = z.object({
  kind: z.enum(EVIDENCE_KIND),
  ref: z.string().nullable(),
  url: z.string().nullable(),
  title: z.string().nullable(),
  detail: z.string().nullable(),
  ...tied,
});
export const verdict = z.object({ outcome: z.enum(VERDICT), note: z.string().nullable(), ...tied });
export type Evidence = z.output<typeof evidence>;
export type Verdict = z.output<typeof verdict>;
