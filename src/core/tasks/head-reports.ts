import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import type { HeadRow } from "../port/head-verbs.js";
import type { TaskRow } from "../port/rows.js";
import { tiesOf } from "./evidence.js";
import { type Heads, headKey, NO_HEADS } from "./heads.js";
import { iso } from "./task-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** The heads that decide what is stale of these tasks: one question for all, none where nothing is tied to a branch. */
export async function headsOf(
  context: Context,
  rows: readonly Pick<TaskRow, "project_id" | "evidence" | "verdict">[],
): Promise<Heads> {
  const branches = new Set<string>();
  const projects = new Set<string>();
  for (const row of rows) {
    if (row.evidence === null && row.verdict === null) continue;
    for (const { branch } of tiesOf(row)) {
      if (branch === null) continue;
      branches.add(branch);
      projects.add(row.project_id);
    }
  }
  if (branches.size === 0) return NO_HEADS;
  const found = await context.tx.heads.of([...projects], [...branches]);
  return new Map(found.map((row) => [headKey(row.project_id, row.branch), row.head]));
}

/** Keeps where the branch is; the event says where it was. One that is known to be there already is left as it is. */
export async function moveHead(
  context: Context,
  projectId: string,
  branch: string,
  head: string,
): Promise<Omit<HeadRow, "seq">> {
  const [known] = await context.tx.heads.of([projectId], [branch]);
  if (known?.head === head) return known;
  const row = {
    workspace_id: context.workspaceId,
    project_id: projectId,
    branch,
    head,
    agent_id: context.agent.id,
    updated_at: context.nowMs,
  };
  await context.tx.heads.put(row);
  const was = known ? { was: known.head } : {};
  await record(context, "branch.moved", { project_id: projectId }, { branch, commit: head, ...was });
  return row;
}

function headView({ project_id, branch, head, agent_id, updated_at }: Omit<HeadRow, "seq">) {
  return { project_id, branch, commit: head, agent_id, updated_at: iso(updated_at) };
}

export const report_head: Handler<Input<"report_head">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  return { body: headView(await moveHead(context, project.id, input.branch, input.commit)) };
};

export const list_heads: Handler<Input<"list_heads">> = async (context, input) => {
  const page = pageOf("heads", input);
  const projectId = input.project_id === undefined ? null : (await projectOf(context, input.project_id)).id;
  const rows = await context.tx.heads.list(context.workspaceId, { projectId, branch: input.branch ?? null }, page);
  return { body: rows.map(headView), ...cursorAfter("heads", rows, page, (row) => [row.seq]) };
};
