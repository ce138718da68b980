import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { viewOf } from "../dependencies/blockers.js";
import { record } from "../events.js";
import { type TaskRow, withChange } from "../port/rows.js";
import { judgedBy, type Said, saysSomething } from "./evidence.js";
import { moveHead } from "./head-reports.js";
import { taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/**
 * Always allowed, as comments and links are (R19): who reviews is rarely who holds the task, and the result is judged
 * when it is there. It changes nothing of the lease.
 */
export const judge_task: Handler<Input<"judge_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const { change, told } = judgedBy(context, row, input);
  if (!saysSomething(input)) throw invalidInput("verdict", "is required, or evidence: say one of them");
  await reportHead(context, row, input);
  const judged = { ...change, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, judged);
  const after = withChange(row, judged);
  await record(context, input.verdict === undefined ? "task.evidence_added" : "task.judged", after, told);
  return { body: await viewOf(context, after) };
};

/** Keeps where the branch is, if that was said. */
export async function reportHead(context: Context, row: TaskRow, { is_head, branch, commit }: Said): Promise<void> {
  if (is_head && branch !== undefined && commit !== undefined) await moveHead(context, row.project_id, branch, commit);
}
