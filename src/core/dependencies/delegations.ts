import type { z } from "zod";
import { CHAIN_SHOWN } from "../../contract/delegation.js";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { record } from "../events.js";
import { grouped } from "../grouped.js";
import { roleAtLeast } from "../identity.js";
import { endByHolder, holds, isHolder } from "../leases/leases.js";
import { refuseLost } from "../leases/stale-writes.js";
import { type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";
import { quoted } from "../quoted.js";
import { endReservation } from "../tasks/passed-over.js";
import { heldByOther, refusalToClaim } from "../tasks/refusals.js";
import { createLinked } from "../tasks/task-creation.js";
import { queuePlace, taskState } from "../tasks/task-state.js";
import { taskOf } from "../tasks/tasks.js";
import { leaseOf } from "../tasks/work.js";
import { viewOf, viewsOf } from "./blockers.js";
import { refuseCycle } from "./cycles.js";
import { blockersNamed } from "./dependencies.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/**
 * Makes a part of the task a task of its own, for which it then waits (R25). Its lease ends, and it goes to the
 * accountable agent as soon as nothing that it waits for is open: as any task that waits, so that what completes, stalls
 * or frees those does it here too.
 */
export const delegate_task: Handler<Input<"delegate_task">> = async (context, input) => {
  const { task_id, lease_id, fence, handoff, ...fields } = input;
  const row = await taskOf(context, task_id);
  const held = holds(context, row, input);
  if (!held) {
    if (lease_id !== undefined || fence !== undefined) return refuseLost(context, row, input);
    await mayDelegateUnheld(context, row);
  }
  if (row.cancel_requested === 1)
    throw invalidInput("task_id", "names a task that is to be cancelled: release it, or cancel it");
  const accountable = accountableFor(context, row, held);
  const named = await blockersNamed(context, fields.depends_on ?? []);
  const blockers = [...named.values()];
  // The new task waits for these, and this one for the new one.
  await refuseCycle(context, row, blockers);
  const place = { project_id: fields.project_id ?? row.project_id, ...planFor(row, fields) };
  const [child] = await createLinked(context, [
    { input: { ...fields, ...place, parent_task_id: row.id }, blockers, delegatedBy: accountable },
  ]);
  if (!child) throw new Error("A delegated task was not created.");
  await waitFor(context, row, { child, accountable, held, handoff });
  return { body: await viewOf(context, child) };
};

/** A part belongs to its task's plan: whoever works on that only would never find it. */
function planFor(row: TaskRow, fields: { plan?: string; project_id?: string }): { plan?: string } {
  if (fields.plan !== undefined) return { plan: fields.plan };
  const elsewhere = fields.project_id !== undefined && fields.project_id !== row.project_id;
  return row.plan === null || elsewhere ? {} : { plan: row.plan };
}

/** Who goes on with the task: its holder; of one that nobody holds, who was to do it, or who delegates it. */
function accountableFor(context: Context, row: TaskRow, held: boolean): string {
  if (held) return row.holder_agent ?? context.agent.id;
  if (row.delegated === 1 && row.accountable !== null) return row.accountable;
  return row.assigned_to || context.agent.id;
}

/** Workers delegate what they hold, and more of what they have delegated already; coordinators any open task (R46). */
async function mayDelegateUnheld(context: Context, row: TaskRow): Promise<void> {
  const state = taskState(row, context.nowMs);
  if (state.held) {
    throw isHolder(context, row) ? new Error("A holder was not taken as one.") : await heldByOther(context, row);
  }
  if (!state.free) throw (await refusalToClaim(context, row)) ?? new Error("A closed task gave no refusal.");
  if (roleAtLeast(context.role, "coordinator")) return;
  if (state.status === "delegated" && row.accountable === context.agent.id) return;
  throw new DibsError(
    "forbidden",
    `${context.agent.name} doesn't hold ${quoted(row)}: claim it first (claim_task); delegating what nobody holds needs the role coordinator.`,
    {},
  );
}

interface Delegation {
  readonly child: TaskRow;
  readonly accountable: string;
  readonly held: boolean;
  readonly handoff: string | undefined;
}

async function waitFor(context: Context, row: TaskRow, { child, accountable, held, handoff }: Delegation) {
  const counts = { blockers: row.blockers + 1, open_blockers: row.open_blockers + 1 };
  const change: TaskChange & { status: "open" } = {
    status: "open",
    ...counts,
    ...queuePlace({ not_before: row.not_before, ...counts }, context.nowMs),
    delegated: 1,
    accountable,
    assigned_to: accountable,
    ...(handoff === undefined ? {} : { handoff_note: handoff }),
  };
  const lease = held ? leaseOf(row) : {};
  const after = held ? await endedByDelegation(context, row, change) : await changed(context, row, change);
  await context.tx.dependencies.add([[row.seq, child.seq]], [child]);
  const told = { child_id: child.id, accountable_agent_id: accountable, handoff: handoff !== undefined };
  await record(context, "task.delegated", after, { ...lease, ...told });
}

/** What a holder gives to others is no attempt that failed (R20). */
function endedByDelegation(context: Context, row: TaskRow, change: TaskChange & { status: "open" }): Promise<TaskRow> {
  const none = { state: null, state_detail: null };
  return endByHolder(context, row, { ...change, ...none, attempts: row.attempts - 1 });
}

async function changed(context: Context, row: TaskRow, change: TaskChange): Promise<TaskRow> {
  const versioned = { ...change, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, versioned);
  await endReservation(context.tx, row);
  return withChange(row, versioned);
}

/** The tree a task is in, each before its parts (R25). */
export const get_task_chain: Handler<Input<"get_task_chain">> = async (context, input) => {
  const { tx } = context;
  const rootId = await tx.families.root((await taskOf(context, input.task_id)).id);
  const found = await tx.families.members(rootId, CHAIN_SHOWN + 1);
  const members = found.slice(0, CHAIN_SHOWN);
  const rows = await tx.families.rows(members.map(({ seq }) => seq));
  const views = await viewsOf(context, rows);
  const byParent = grouped(views, (view) => view.parent_task_id ?? "");
  const bySeq = new Map(members.map((member) => [member.seq, member]));
  const place = new Map(rows.map((row) => [row.id, bySeq.get(row.seq)]));
  const chain = [];
  const next = views.filter(({ id }) => id === rootId);
  for (let view = next.pop(); view; view = next.pop()) {
    const at = place.get(view.id);
    chain.push({ ...linkOf(view), depth: at?.depth ?? 0, delegated: at?.delegated === 1 });
    next.push(...(byParent.get(view.id) ?? []).reverse());
  }
  const body = {
    root_id: rootId,
    depth: Math.max(...chain.map(({ depth }) => depth)),
    total_count: chain.length,
    completed_count: chain.filter(({ status }) => status === "completed").length,
    truncated: found.length > CHAIN_SHOWN,
    chain,
  };
  return { body };
};

type View = Awaited<ReturnType<typeof viewOf>>;

function linkOf({ id, content, status, stalled, parent_task_id, ...view }: View) {
  const { created_by_agent_id, assigned_to_agent_id, accountable_agent_id, claimed_by_agent_id } = view;
  const agents = { created_by_agent_id, assigned_to_agent_id, accountable_agent_id, claimed_by_agent_id };
  return { id, content, status, stalled, parent_task_id, ...agents };
}
