import { SKIPPED_COUNTED } from "../../contract/task-work.js";
import type { Context } from "../context.js";
import { holdView } from "../holds/hold-view.js";
import { newId } from "../ids.js";
import { endWait, enterLine } from "../line/line.js";
import { namesOf, patienceMs, rankOf } from "../line/line-order.js";
import { asHolder } from "../line/line-tickets.js";
import { markOf, NOT_OFFERED } from "../line/waits.js";
import { behindHold, isBehindHold } from "../port/hold-rows.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import type { QueueFilter } from "../port/verbs.js";
import { titled } from "../quoted.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { namesDeclared } from "./task-scopes.js";

const SKIPPED_SHOWN = 10;

interface Skipped {
  readonly skipped: readonly object[];
  readonly skipped_count: number;
}

/** What came first and was passed over because it is frozen, or its scopes aren't free (R16, R41). */
export async function skippedBy(context: Context, filter: QueueFilter, before: TaskRow | undefined) {
  const { scopes, waits } = context.tx;
  const { nowMs } = context;
  const { rows, count } = await scopes.passedOver(filter, before, { shown: SKIPPED_SHOWN, counted: SKIPPED_COUNTED });
  const by = [...new Set(rows.map((row) => row.parked_by))];
  const claims = await scopes.bySeqs(by.filter((seq) => seq > 0));
  const tickets = await waits.bySeqs(by.filter((seq) => seq < 0).map((seq) => -seq));
  const holders = new Map([
    ...claims.map((claim) => [claim.seq, claim] as const),
    ...tickets.flatMap((wait) =>
      namesOf(wait)
        .slice(0, 1)
        .map((name) => [-wait.seq, asHolder(wait, name, nowMs)] as const),
    ),
  ]);
  const holds = new Map((await context.holds()).map((hold) => [behindHold(hold), hold]));
  const skipped = rows.map(({ id, content, parked_by }) => {
    const [holder, hold] = [holders.get(parked_by), holds.get(parked_by)];
    return {
      id,
      content,
      code: isBehindHold(parked_by) ? "frozen" : "scope_conflict",
      holder: holder ? scopeClaimView(holder, nowMs) : null,
      hold: hold ? holdView(hold, nowMs) : null,
    };
  });
  return { skipped, skipped_count: count };
}

/** With what the agent itself may not hold, as it and its scopes would be more than its limit allows (R49). */
export function withTooWide(rows: readonly TaskRow[], { skipped, skipped_count }: Skipped) {
  const wide = rows.map(({ id, content }) => ({ id, content, code: "limit_exceeded", holder: null, hold: null }));
  return { skipped: [...wide, ...skipped].slice(0, SKIPPED_SHOWN), skipped_count: skipped_count + wide.length };
}

/**
 * A task that others' claims were preferred to for two lease lengths gets into line for its scopes, or one that needs many
 * would wait for ever while ever new claims of single ones are granted (R16).
 */
export async function reserveIfStarved(context: Context, row: TaskRow): Promise<void> {
  if (row.passed_since === null || context.nowMs - row.passed_since < patienceMs(context.settings)) return;
  if ((await context.tx.waits.ofTask(row.id)).length > 0) return;
  const { wanted, names } = await namesDeclared(context, row);
  const ticket = {
    id: newId(context.nowMs),
    workspace_id: row.workspace_id,
    project_id: row.project_id,
    agent_id: null,
    session_id: null,
    task_id: row.id,
    task_lease: null,
    mark: markOf(wanted, row),
    wanted: JSON.stringify(names),
    intent: titled(row.content),
    lease_seconds: null,
    priority: row.priority,
    asked_at: context.nowMs,
    rank: rankOf(context.nowMs, row.priority),
    ...NOT_OFFERED,
  };
  await enterLine(context.tx, ticket, names, null);
}

/** A task that is to be worked on no more, not yet, or with other names, keeps none free. After its row is written. */
export async function endReservation(tx: Tx, row: Pick<TaskRow, "id" | "passed_since">): Promise<void> {
  if (row.passed_since === null) return;
  for (const kept of await tx.waits.ofTask(row.id)) await endWait(tx, kept, "task_lost");
}
