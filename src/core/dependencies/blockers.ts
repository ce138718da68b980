import { DibsError } from "../../contract/errors.js";
import { BLOCKERS_SHOWN, type Task } from "../../contract/task.js";
import type { Context } from "../context.js";
import { grouped } from "../grouped.js";
import { frozenAmong, frozenBy } from "../holds/frozen.js";
import type { LinkedRow, StateColumns, TaskRow } from "../port/rows.js";
import { quoted, titled } from "../quoted.js";
import { headsOf } from "../tasks/head-reports.js";
import { NO_HEADS } from "../tasks/heads.js";
import { isBroken, openAmong, taskState } from "../tasks/task-state.js";
import { taskView } from "../tasks/task-view.js";

/** Tasks that a refusal names; how many there are it says beside. */
const NAMED_MAX = 20;

/** Tasks as the wire names them, with what each waits for: one question for all of them, none where nothing waits. */
export async function viewsOf(context: Context, rows: readonly TaskRow[]): Promise<Task[]> {
  const waiting = rows.filter((row) => row.blockers > 0).map((row) => row.seq);
  const blockers = grouped(
    waiting.length === 0 ? [] : await context.tx.dependencies.blockersOf(waiting, context.nowMs, BLOCKERS_SHOWN),
    (blocker) => blocker.task_seq,
  );
  const heads = await headsOf(context, rows);
  const frozen = await frozenAmong(context, rows);
  return rows.map((row) => taskView(row, context.nowMs, blockers.get(row.seq) ?? [], heads, frozen.has(row.seq)));
}

export async function viewOf(context: Context, row: TaskRow): Promise<Task> {
  const alone = row.blockers === 0 && row.evidence === null && row.verdict === null;
  const isFrozen = async () => (await frozenBy(context, row)).length > 0;
  if (alone) return taskView(row, context.nowMs, [], NO_HEADS, await isFrozen());
  return (await viewsOf(context, [row]))[0] as Task;
}

/** The refusal of a claim of what waits for other tasks: which, in which state, and the call that gets each out of the way. */
export async function blockedByOthers(context: Context, row: TaskRow): Promise<DibsError<"task_blocked">> {
  const { blockers, names, stalled, unblocking } = await inTheWay(context, row);
  const waits = stalled ? "is stalled: it waits for" : "waits for";
  return new DibsError("task_blocked", `${quoted(row)} ${waits} ${names}.`, {
    blockers,
    blockers_count: row.open_blockers,
    next: [
      ...unblocking,
      ANOTHER,
      "This one is ready as soon as all it waits for is completed; or let it wait for less: remove_dependency.",
    ],
  });
}

/** The same of what waits for parts of it that others do. */
export async function delegatedToOthers(context: Context, row: TaskRow): Promise<DibsError<"task_delegated">> {
  const { blockers, names, stalled, unblocking } = await inTheWay(context, row);
  const accountable = row.accountable === null ? null : await agentName(context, row.accountable);
  const by = accountable === null ? "delegated" : `delegated by ${accountable}`;
  return new DibsError(
    "task_delegated",
    `${quoted(row)} is ${by}${stalled ? ", stalled" : ""}: it waits for ${names}.`,
    {
      children: blockers,
      children_count: row.open_blockers,
      next: [
        ...unblocking,
        "Claim one of its parts, if it may be yours: claim_task.",
        `${accountable ?? "Whoever claims it"} goes on with it as soon as all its parts are completed; who does what: get_task_chain.`,
      ],
    },
  );
}

const ANOTHER = "Claim another task: claim_next_task.";

/** Null where the agent was deleted: then the task is anybody's. */
async function agentName(context: Context, id: string): Promise<string | null> {
  return (await context.tx.agents.byId(context.workspaceId, id))?.name ?? null;
}

async function inTheWay(context: Context, row: TaskRow) {
  const found = await context.tx.dependencies.blockersOf([row.seq], context.nowMs, NAMED_MAX);
  const open = openAmong(found);
  const blockers = await named(context, open);
  const first = blockers.slice(0, 3).map((blocker) => `"${titled(blocker.content)}" (${blocker.status})`);
  const more = row.open_blockers > first.length ? ` and ${row.open_blockers - first.length} more` : "";
  return {
    blockers,
    names: `${first.join(", ")}${more}`,
    stalled: open.some((blocker) => isBroken(blocker, context.nowMs)),
    unblocking: open.flatMap((blocker) => unblocking(blocker, context.nowMs)).slice(0, 3),
  };
}

/** The one call that lets a task that will never be completed be worked on again. */
function unblocking(blocker: LinkedRow, nowMs: number): string[] {
  const { status } = taskState(blocker, nowMs);
  if (status === "failed") return [`Let a coordinator retry the failed ${blocker.id}: retry_task.`];
  return status === "cancelled" ? [`Open the cancelled ${blocker.id} again: reopen_task.`] : [];
}

/** The refusal to delete what others depend on, naming the first of them. */
export async function dependedOn(context: Context, row: TaskRow): Promise<DibsError<"has_dependents"> | null> {
  const all = await context.tx.dependencies.dependentsOf(row.seq, { lock: false });
  if (all.length === 0) return null;
  const page = { limit: NAMED_MAX, after: null };
  const dependents = await named(context, await context.tx.dependencies.list(row.seq, "dependents", page));
  const names = dependents.slice(0, 3).map((dependent) => `"${titled(dependent.content)}"`);
  const more = all.length > names.length ? ` and ${all.length - names.length} more` : "";
  return new DibsError(
    "has_dependents",
    `${quoted(row)} can't be deleted: ${names.join(", ")}${more} ${all.length === 1 ? "waits" : "wait"} for it.`,
    {
      dependents,
      dependents_count: all.length,
      next: ["Cancel it instead: cancel_task.", "Repeat with force: true; they then wait for it no more."],
    },
  );
}

type Named = StateColumns & Pick<LinkedRow, "seq" | "id">;

/** Ids, titles and states, in the order given. */
async function named(context: Context, rows: readonly Named[]) {
  const titles = new Map(
    (await context.tx.dependencies.titles(rows.map((row) => row.seq))).map(({ seq, content }) => [seq, content]),
  );
  return rows.map((row) => ({
    id: row.id,
    content: titles.get(row.seq) ?? "",
    status: taskState(row, context.nowMs).status,
  }));
}
