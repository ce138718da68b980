import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { viewOf } from "../dependencies/blockers.js";
import { blockerMoved } from "../dependencies/dependencies.js";
import { record } from "../events.js";
import { endByHolder, holds } from "../leases/leases.js";
import { refuseLate } from "../leases/stale-writes.js";
import { type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";
import { judgedBy, type Said } from "./evidence.js";
import { headsOf } from "./head-reports.js";
import { withHead } from "./heads.js";
import { reportHead } from "./judging.js";
import { missingVerdict } from "./required-verdict.js";
import { taskOf } from "./tasks.js";
import { isRepeat, leaseOf } from "./work.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

export const complete_task: Handler<Input<"complete_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const result = input.result === undefined ? null : JSON.stringify(input.result);
  if (!holds(context, row, input)) {
    const repeated = await isRepeat(context, row, input, "completed", "task.completed");
    if (repeated && result === row.result) return { body: await viewOf(context, row) };
    return refuseLate(context, row, input, repeated ? null : result);
  }
  const { change, told } = judgedBy(context, row, input);
  await requireVerdict(context, withChange(row, change), input);
  await reportHead(context, row, input);
  const becomes: TaskChange & { status: "completed" } = {
    status: "completed",
    queue: null,
    wakes_at: null,
    closed_at: context.nowMs,
    closed_by: context.agent.id,
    cancel_requested: 0,
    state: null,
    result,
    failure_reason: null,
  };
  const after = await endByHolder(context, row, Object.assign(becomes, change));
  await record(context, "task.completed", after, { ...leaseOf(row), ...told });
  await blockerMoved(context, row, after);
  return { body: await viewOf(context, after) };
};

/** Throws `verdict_required`. The head that comes with the verdict counts, though it isn't written yet. */
async function requireVerdict(context: Context, row: TaskRow, { is_head, branch, commit }: Said): Promise<void> {
  if (row.requires_verdict === 0) return;
  const known = await headsOf(context, [row]);
  const moves = is_head && branch !== undefined && commit !== undefined;
  const refusal = missingVerdict(row, moves ? withHead(known, row.project_id, branch, commit) : known);
  if (refusal) throw refusal;
}
