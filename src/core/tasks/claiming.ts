import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import { projectOf } from "../agents/projects.js";
import { AskAgain, type Context, type Handler, type Reply } from "../context.js";
import { viewOf, viewsOf } from "../dependencies/blockers.js";
import { planOf } from "../dependencies/plan-named.js";
import { wake, wakeTask } from "../engine/wake.js";
import { record } from "../events.js";
import { refuseFrozen } from "../holds/frozen.js";
import { sleepsFrozen, wakeAllowed } from "../holds/frozen-queue.js";
import { roleAtLeast } from "../identity.js";
import { roomFor, roomLeft, tooMany } from "../leases/claim-limit.js";
import { endByForce, holds, leaseSecondsOf, notifyLost, renew } from "../leases/leases.js";
import { QUEUE, type TaskRow } from "../port/rows.js";
import type { QueueFilter } from "../port/verbs.js";
import { quoted } from "../quoted.js";
import { requireReason } from "../required-reason.js";
import { withUnlanded } from "../unlanded/unlanded-beside.js";
import { tellCancelRequest } from "./cancel-requests.js";
import { reserveIfStarved, skippedBy, withTooWide } from "./passed-over.js";
import { heldByOther, refusalToClaim } from "./refusals.js";
import { declared, grantWithScopes, park, refuseMoved, takenFrom, wakeOwn } from "./task-scopes.js";
import { queuePlace, taskState } from "./task-state.js";
import { taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Takes the next ready task, or up to `count` of them, each under its own lease (R15, R22). */
export const claim_next_task: Handler<Input<"claim_next_task">> = async (context, input) => {
  const leaseSeconds = leaseSecondsOf(context, input.lease_seconds);
  const plan = input.plan === undefined ? undefined : await planOf(context, input.plan, input.project_id);
  const project = input.project_id === undefined ? null : await projectOf(context, input.project_id);
  const filter: QueueFilter = {
    workspaceId: context.workspaceId,
    projectId: plan?.project_id ?? project?.id ?? null,
    agentId: context.agent.id,
    labels: input.labels ?? [],
    plan: plan?.slug ?? null,
  };
  const wanted = input.count ?? 1;
  const room = await roomFor(context, wanted);
  const granted: TaskRow[] = [];
  const tooWide: TaskRow[] = [];
  if (context.tx.parked) await wakeOwn(context);
  let passed = context.tx.parked;
  while (granted.length < room && tooWide.length < TOO_WIDE_MAX) {
    if (passed) await wakeAllowed(context, filter);
    const row = await (tooWide.length === 0 ? nextTask(context, filter) : nextBehind(context, filter, tooWide));
    if (!row) break;
    if (await sleepsFrozen(context, row)) {
      passed = true;
      continue;
    }
    if (!(await fits(context, row, granted))) {
      tooWide.push(row);
      if (granted.length > 0) break;
      continue;
    }
    const conflicts = row.scoped === 1 ? await takenFrom(context, row) : [];
    if (conflicts.length === 0) granted.push(await grantWithScopes(context, row, leaseSeconds));
    else {
      passed = true;
      await reserveIfStarved(context, row);
      // Who was in the way may have let go meanwhile: then it is looked at again.
      if (!(await park(context, row, conflicts))) context.heads.spoil();
    }
  }
  // They are others' to take.
  if (tooWide.length > 0) context.heads.spoil();
  const [widest] = tooWide;
  if (widest && granted.length === 0) return { body: null, refusal: tooMany(context, await claimsOf(context, widest)) };
  const [skipped, views, notices, beside] = await Promise.all([
    passed ? skippedBy(context, filter, granted.length < room ? undefined : granted.at(-1)) : NOTHING_SKIPPED,
    viewsOf(context, granted),
    noticesOf(context),
    withUnlanded(context, granted),
  ]);
  const told = { ...withTooWide(tooWide, skipped), ...beside, notices };
  const body = input.count === undefined ? { task: views[0] ?? null, ...told } : { tasks: views, ...told };
  if (granted.length > 0) return { body, granted };
  if (context.patient && (await context.tx.tasks.readyElsewhere(filter))) throw new AskAgain();
  return { body, granted, emptyUntilMs: await context.tx.tasks.nextWake(context.workspaceId, context.nowMs) };
};

const NOTHING_SKIPPED = { skipped: [], skipped_count: 0 };
/** So many that an agent near its limit can't have are passed over: what is behind more of them it may have once it has let go. */
const TOO_WIDE_MAX = 16;

/** The best ready task of the filter but for these, which stay in the queue. */
async function nextBehind(
  { tx }: Context,
  filter: QueueFilter,
  passed: readonly TaskRow[],
): Promise<TaskRow | undefined> {
  const rows: TaskRow[] = [];
  for (const assignedTo of ["", filter.agentId]) rows.push(...(await tx.tasks.ready(filter, assignedTo, 64, false)));
  rows.sort((a, b) => b.priority - a.priority || a.seq - b.seq);
  return rows.find(({ seq }) => passed.every((row) => row.seq !== seq));
}

/** Whether the agent may hold the task and its scopes beside what it holds, with what this call gave it (R49). */
async function fits(context: Context, row: TaskRow, granted: readonly TaskRow[]): Promise<boolean> {
  if (row.scoped === 0 && granted.every(({ scoped }) => scoped === 0)) return true;
  const claims = await claimsOf(context, row);
  return (await roomLeft(context, claims)) === claims;
}

/** How many claims it is to hold a task. */
async function claimsOf(context: Context, row: TaskRow): Promise<number> {
  return 1 + (await declared(context, row)).length;
}

/** The best task of the filter by hand-out order: from the queue, or from those the clock freed a moment ago. */
async function nextTask(context: Context, filter: QueueFilter): Promise<TaskRow | undefined> {
  const { tx } = context;
  const best = await context.heads.first(tx, filter);
  if (context.due.more) {
    const lapsed = await tx.tasks.nextLapsed(filter, context.nowMs, best);
    if (lapsed === "unknown") {
      await wake(tx, Number.MAX_SAFE_INTEGER - 1);
      context.due.more = false;
      context.heads.spoil();
      return context.heads.take(tx, filter);
    }
    if (lapsed !== "none") {
      const row = await tx.tasks.bySeq(lapsed.seq);
      // Another node may have been quicker.
      if (row?.queue !== QUEUE.sleeping || row.wakes_at === null || row.wakes_at > context.nowMs)
        return nextTask(context, filter);
      const woken = await wakeTask(tx, row);
      // Its lease may have kept others from being claimed, which what was read ahead doesn't know.
      if (row.scoped === 1) context.heads.spoil();
      return woken;
    }
  }
  return context.heads.take(tx, filter);
}

/** Claims a named task: renewal for its own holder, takeover if asked and allowed, else the first cause why not (R17). */
export const claim_task: Handler<Input<"claim_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const leaseSeconds = leaseSecondsOf(context, input.lease_seconds);
  const state = taskState(row, context.nowMs);
  if (holds(context, row, {})) {
    const renewed = await renew(context, row, leaseSeconds);
    return { ...(await answer(context, renewed, [])), renewed: [renewed] };
  }
  if (state.held && input.takeover) return takeOver(context, row, leaseSeconds, input.reason);
  const refusal = await refusalToClaim(context, row);
  if (refusal) throw refusal;
  await roomFor(context, 1);
  const granted = await grantWithScopes(context, row, leaseSeconds);
  return answer(context, granted, [granted]);
};

async function answer(context: Context, row: TaskRow, granted: TaskRow[]): Promise<Reply> {
  const beside = await withUnlanded(context, granted);
  return { body: { task: await viewOf(context, row), ...beside, notices: await noticesOf(context) }, granted };
}

async function takeOver(
  context: Context,
  row: TaskRow,
  leaseSeconds: number,
  reason: string | undefined,
): Promise<Reply> {
  const allowed = row.holder_agent === context.agent.id || roleAtLeast(context.role, "admin");
  if (!allowed) {
    const held = await heldByOther(context, row);
    throw new DibsError(
      "forbidden",
      `${held.message} Only another session of that agent, or an admin, may take it over.`,
      {},
    );
  }
  requireReason(reason);
  await roomFor(context, 1);
  await refuseFrozen(context, row);
  await refuseMoved(context, row);
  await context.holder();
  const place = queuePlace(row, context.nowMs);
  const open = await endByForce(context, row, { status: "open", state: null, state_detail: null, ...place });
  const lease = {
    lease_id: row.lease_id,
    fence: row.fence,
    agent_id: row.holder_agent,
    session_id: row.holder_session,
  };
  await record(context, "task.released", row, { ...lease, forced: true, takeover: true, reason });
  await notifyLost(context.tx, row, "revoked", `${context.agent.name} took over ${quoted(row)}: ${reason}`);
  const granted = await grantWithScopes(context, open, leaseSeconds);
  if (granted.cancel_requested === 1) await tellCancelRequest(context, granted);
  return answer(context, granted, [granted]);
}
