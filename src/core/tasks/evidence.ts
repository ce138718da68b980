import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import { A_WHOLE_HASH, EVIDENCE_MAX, type Evidence, type Verdict, WHOLE_HASH } from "../../contract/evidence.js";
import type { Operations } from "../../contract/operations.js";
import type { Context } from "../context.js";
import type { TaskRow } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";

/** What a statement about a result is about. */
export interface Tie {
  readonly commit: string | null;
  readonly branch: string | null;
}
type Kept<R> = Omit<R, "stale" | "created_at"> & Tie & { readonly at: number };
/** As the store keeps them, in JSON. */
export type KeptEvidence = Kept<Evidence>;
export type KeptVerdict = Kept<Verdict>;

/** What a call says of a result. */
export type Said = Omit<z.output<Operations["judge_task"]["input"]>, "task_id">;

export const evidenceOf = (row: Pick<TaskRow, "evidence">): KeptEvidence[] =>
  row.evidence === null ? [] : JSON.parse(row.evidence);
export const verdictOf = (row: Pick<TaskRow, "verdict">): KeptVerdict | null =>
  row.verdict === null ? null : JSON.parse(row.verdict);

export function tiesOf(row: Pick<TaskRow, "evidence" | "verdict">): Tie[] {
  const verdict = verdictOf(row);
  return [...evidenceOf(row), ...(verdict ? [verdict] : [])];
}

export function saysSomething({ evidence = [], verdict }: Said): boolean {
  return evidence.length > 0 || verdict !== undefined;
}

/**
 * What the task's columns become by what is said of its result, and what its event tells. Throws `invalid_input` for what
 * doesn't go together.
 */
export function judgedBy(context: Context, row: TaskRow, said: Said): { change: TaskChange; told: object } {
  requireFitting(said);
  const { evidence = [], verdict, verdict_note: note = null, commit = null, branch = null } = said;
  const by = { agent_id: context.agent.id, at: context.nowMs };
  const change: TaskChange = {};
  if (evidence.length > 0) {
    const before = evidenceOf(row);
    if (before.length + evidence.length > EVIDENCE_MAX) {
      const left = EVIDENCE_MAX - before.length;
      throw invalidInput(
        "evidence",
        `must have at most ${left} entries: a task has ${EVIDENCE_MAX}, this one ${before.length} already`,
      );
    }
    const added = evidence.map(({ kind, ref = null, url = null, title = null, detail = null }): KeptEvidence => {
      // A commit is evidence of itself.
      const own = kind === "commit" ? ref : commit;
      return { kind, ref, url, title, detail, commit: own, branch, ...by };
    });
    change.evidence = JSON.stringify([...before, ...added]);
  }
  if (verdict !== undefined) {
    const kept: KeptVerdict = { outcome: verdict, note, commit, branch, ...by };
    change.verdict = JSON.stringify(kept);
  }
  const told = {
    ...(verdict === undefined ? {} : { verdict }),
    ...(evidence.length === 0 ? {} : { evidence: evidence.map(({ kind }) => kind) }),
    ...(commit === null ? {} : { commit }),
    ...(branch === null ? {} : { branch }),
  };
  return { change, told };
}

function requireFitting(said: Said): void {
  const { verdict, verdict_note, commit, branch, is_head } = said;
  if (verdict_note !== undefined && verdict === undefined) throw invalidInput("verdict_note", "needs a verdict");
  if (branch !== undefined && commit === undefined)
    throw invalidInput("branch", "needs commit: the one on it that this is about");
  if (is_head && branch === undefined) throw invalidInput("is_head", "needs commit and branch");
  if (is_head && !WHOLE_HASH.test(commit ?? "")) throw invalidInput("commit", `${A_WHOLE_HASH}, to be a branch's head`);
  if (commit !== undefined && !saysSomething(said))
    throw invalidInput("commit", "says what a verdict or evidence is about; give one, or report_head");
}

/** What a task that is opened again loses: a passing verdict. A failing one says what the next holder is to mend. */
export function withoutPass(row: TaskRow): TaskChange {
  return verdictOf(row)?.outcome === "pass" ? { verdict: null } : {};
}
