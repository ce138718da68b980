import { DibsError } from "../../contract/errors.js";
import type { Verdict } from "../../contract/evidence.js";
import type { Context } from "../context.js";
import { roleAtLeast } from "../identity.js";
import type { TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";
import { verdictOf } from "./evidence.js";
import { headsOf } from "./head-reports.js";
import { type Heads, headOf } from "./heads.js";
import { verdictView } from "./task-view.js";

/** The refusal to complete a task that requires a passing verdict and hasn't one that still counts; null where it has (R28). */
export function missingVerdict(row: TaskRow, heads: Heads): DibsError<"verdict_required"> | null {
  if (row.requires_verdict === 0) return null;
  const kept = verdictOf(row);
  const verdict = kept && verdictView(kept, heads, row.project_id);
  if (verdict?.outcome === "pass" && !verdict.stale) return null;
  const head = headOf(heads, row.project_id, verdict?.branch ?? null);
  return new DibsError(
    "verdict_required",
    `${quoted(row)} is completed only with a passing verdict, and ${lacking(verdict, head)}.`,
    {
      verdict,
      head,
      next: [
        'Complete it with verdict "pass" and the commit it is about: complete_task.',
        "Let somebody else judge it first: judge_task.",
        ...(verdict?.stale
          ? [`If ${verdict.branch} is at another commit, say so with is_head: true, or report_head.`]
          : []),
        "If the work isn't good enough, go on with it, or let others: release_task.",
      ],
    },
  );
}

const short = (commit: string | null) => (commit ?? "").slice(0, 12);
const NOTE_TOLD = 200;

function lacking(verdict: Verdict | null, head: string | null): string {
  if (!verdict) return "has none";
  const { outcome, note, commit, branch } = verdict;
  if (outcome === "fail") return `its verdict is fail${note === null ? "" : ` (${note.slice(0, NOTE_TOLD)})`}`;
  return `its verdict is stale: it is about ${short(commit)}, and ${branch} is at ${short(head)}`;
}

/** What `why` adds about completing a task; empty where nothing is required, or what is required is there. */
export async function requirementOf(context: Context, row: TaskRow): Promise<string> {
  if (row.requires_verdict === 0) return "";
  const missing = missingVerdict(row, await headsOf(context, [row]));
  return missing ? ` It${missing.message.slice(quoted(row).length)}` : "";
}

/** How a completed task was judged, for a sentence about it; empty where it wasn't. */
export async function judgementOf(context: Context, row: TaskRow): Promise<string> {
  const kept = verdictOf(row);
  if (!kept) return "";
  const { outcome, stale } = verdictView(kept, await headsOf(context, [row]), row.project_id);
  return `, judged ${outcome}${stale ? " but stale" : ""}`;
}

/**
 * What a task requires is lifted by whoever may ask for it, its creator or a coordinator, not by who is to fulfil it.
 * Throws `forbidden`.
 */
export function mayRequire(context: Context, row: TaskRow, requires: boolean | undefined): void {
  if (requires === undefined || requires === (row.requires_verdict === 1)) return;
  if (row.created_by === context.agent.id || roleAtLeast(context.role, "coordinator")) return;
  throw new DibsError(
    "forbidden",
    `Whether ${quoted(row)} requires a verdict is for its creator to say, or for the role coordinator.`,
    {},
  );
}
