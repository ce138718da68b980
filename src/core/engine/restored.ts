import { blockerMovedByItself } from "../dependencies/dependencies.js";
import { recordByClock } from "../events.js";
import { liftFences } from "../leases/duties.js";
import { endByForce, notifyLost } from "../leases/leases.js";
import { revokeScopes } from "../leases/scope-leases.js";
import { serveLine } from "../line/line.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { quoted } from "../quoted.js";
import { fate, OUT_OF_QUEUE, queuePlace } from "../tasks/task-state.js";
import { ATTEMPTS_EXHAUSTED } from "../tasks/task-view.js";
import { wake } from "./wake.js";

/**
 * A restored backup has forgotten what was granted after it was made: the next grant of a task would repeat a fence
 * that some tool outside has seen already, and refuse its rightful holder (R4). One task is never granted a million
 * times in the time that a restore loses; 2^31, where some languages' integers end, is two thousand restores away.
 */
const FENCES_LIFTED = 1_000_000;
/** The same for event ids (R50): a reader whose cursor is of the lost time would miss what is written next. */
const EVENTS_LIFTED = 1_000_000_000;
const BATCH = 500;

export interface Restored {
  readonly leasesEnded: number;
  readonly tasksLifted: number;
  readonly fencesLiftedBy: number;
}

/**
 * Makes a store safe that was restored from a backup: ends every live lease (its holder may have finished, or lost it,
 * in the time that is lost), and lifts the fences of all tasks and the ids of events above anything that time can have
 * given out. Nobody is at fault, so the ended attempts don't count. Safe to repeat.
 */
export async function afterRestore(tx: Tx): Promise<Restored> {
  const [first, ...others] = (await tx.workspaces.all()).map(({ id }) => restoredEvent(tx, id));
  // First of all, so that what follows has ids that no reader has seen either.
  if (first) await tx.events.appendAhead(first, EVENTS_LIFTED);
  for (const event of others) await tx.events.append(event);
  while ((await wake(tx, BATCH)).count > 0);
  let leasesEnded = 0;
  for (;;) {
    const held = await tx.tasks.heldByAnybody(BATCH);
    for (const row of held) await giveBack(tx, row);
    leasesEnded += held.length;
    if (held.length === 0) break;
  }
  for (;;) {
    const names = await tx.scopes.all(BATCH);
    await revokeScopes(tx, names, REASON);
    leasesEnded += names.length;
    if (names.length === 0) break;
  }
  await serveLine(tx);
  const tasksLifted = await liftFences(tx, FENCES_LIFTED);
  return { leasesEnded, tasksLifted, fencesLiftedBy: FENCES_LIFTED };
}

function restoredEvent(tx: Tx, workspaceId: string) {
  const nobody = { agent_id: null, agent_name: null, session_id: null, project_id: null, task_id: null };
  const data = JSON.stringify({ fences_lifted_by: FENCES_LIFTED, event_ids_lifted_by: EVENTS_LIFTED });
  return { workspace_id: workspaceId, type: "store.restored", at: tx.nowMs, ...nobody, data };
}

const REASON = "the store was restored from a backup";

async function giveBack(tx: Tx, row: TaskRow): Promise<void> {
  const status = fate(row, false);
  const place = status === "open" ? queuePlace(row, tx.nowMs) : OUT_OF_QUEUE;
  const closing = status === "open" ? {} : { closed_at: tx.nowMs };
  const failing = status === "failed" ? { failure_reason: ATTEMPTS_EXHAUSTED } : {};
  const none = { state: null, state_detail: null, cancel_requested: 0, attempts: row.attempts - 1 };
  const after = await endByForce({ tx, nowMs: tx.nowMs }, row, { status, ...place, ...closing, ...failing, ...none });
  const { lease_id, fence, holder_agent: agent_id, holder_session: session_id } = row;
  const lease = { lease_id, fence, agent_id, session_id };
  await recordByClock(tx, "task.released", row, { ...lease, forced: true, reason: REASON });
  if (status === "cancelled") await recordByClock(tx, "task.cancelled", row, { reason: row.cancel_reason });
  if (status === "failed") await recordByClock(tx, "task.failed", row, { reason: ATTEMPTS_EXHAUSTED });
  await blockerMovedByItself(tx, row, after);
  await notifyLost(tx, row, "revoked", `Your lease on ${quoted(row)} was ended, as ${REASON}.`);
}
