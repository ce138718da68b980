import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import { isSessionLive } from "../agents/session-life.js";
import type { Context, Handler } from "../context.js";
import type { Hold } from "../holds/known-holds.js";
import type { WaitRow } from "../port/wait-rows.js";
import { type Conflict, scopeEndMs } from "../scopes/scope-conflicts.js";
import { type Claiming, tryClaim } from "../scopes/scope-granting.js";
import { taskState } from "../tasks/task-state.js";
import { taskOf } from "../tasks/tasks.js";
import { endWait, offerIfFree } from "./line.js";
import { endOf, isOffered, isTicketOf, isWaiting } from "./line-order.js";
import { askerOf, wantedBy } from "./line-tickets.js";
import { answerOf, endCovered, waitOf } from "./waits.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Where a ticket is; its session, waiting in this call, takes what is offered by being there (R36). */
export const get_wait: Handler<Input<"get_wait">> = async (context, input) => {
  let row = await noticed(context, input.ticket);
  const present = (input.wait_seconds ?? 0) > 0 && isTicketOf(row, context.session);
  if (present && isOffered(row, context.nowMs)) row = await take(context, row);
  const { body, conflicts } = await answerOf(context, row);
  if (!isWaiting(row, context.nowMs)) return { body, wait: row.id };
  return { body, emptyUntilMs: endsFirst(row, conflicts, await context.holds()) };
};

export const accept_wait: Handler<Input<"accept_wait">> = async (context, input) => {
  const row = await noticed(context, input.ticket);
  if (!isTicketOf(row, context.session))
    throw new DibsError("forbidden", "What a ticket is offered is for the session that waits.", {});
  const after = isOffered(row, context.nowMs) ? await take(context, row) : row;
  return { body: (await answerOf(context, after)).body, wait: row.id };
};

/** The ticket, offered what it waits for if the clock has freed that and nobody noticed yet. */
async function noticed(context: Context, ticket: string): Promise<WaitRow> {
  const row = await waitOf(context, ticket);
  if (!isWaiting(row, context.nowMs) || isOffered(row, context.nowMs)) return row;
  return (await offerIfFree(context.tx, row)) ? waitOf(context, ticket) : row;
}

/** When the clock alone may change what a ticket is. */
function endsFirst(row: WaitRow, conflicts: readonly Conflict[], holds: readonly Hold[]): number | null {
  const ends = conflicts
    .filter(({ wait }) => !wait || wait.offered_until !== null)
    .map(({ holder }) => scopeEndMs(holder));
  for (const hold of holds) ends.push(hold.expires_at);
  for (const end of [row.offered_until, row.until]) if (end !== null) ends.push(end);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Takes what the ticket was offered. */
async function take(context: Context, row: WaitRow): Promise<WaitRow> {
  const tried = await tryClaim(context, await askedBy(context, row));
  if ("conflicts" in tried) return row;
  return grantedTo(context, row, tried.claims);
}

export async function grantedTo(
  context: Context,
  row: WaitRow,
  claims: readonly { readonly id: string }[],
): Promise<WaitRow> {
  const ended = await endWait(context.tx, row, "granted", { claims: claims.map(({ id }) => id), by: context });
  const after = await waitOf(context, row.id);
  // Another node may have ended it since it was read.
  if (!ended) throw waitsNoMore(after, context.nowMs);
  await endCovered(context, row.session_id);
  return after;
}

/** The ticket as a request, for its own session and, if it is for one, its own task. */
export async function askedBy(context: Context, row: WaitRow): Promise<Claiming> {
  const session = await context.tx.sessions.byId(context.workspaceId, row.session_id ?? "");
  if (!session || !isSessionLive(session, context.nowMs)) throw waitsNoMore(row, context.nowMs);
  const task = row.task_id === null ? null : await taskOf(context, row.task_id);
  if (task && (task.lease_id !== row.task_lease || !taskState(task, context.nowMs).held))
    throw waitsNoMore(row, context.nowMs);
  return {
    wanted: wantedBy(row),
    project: await projectOf(context, row.project_id),
    intent: row.intent,
    leaseSeconds: row.lease_seconds,
    row: task,
    asker: askerOf(row),
    holder: async () => session,
    agent: { id: session.agent_id, name: session.agent_name },
  };
}

/** Of a ticket that is over, and wasn't granted. */
export function waitsNoMore(row: WaitRow, nowMs: number): DibsError<"lease_lost"> {
  const how = endOf(row, nowMs)?.how ?? (row.task_id === null ? "session_ended" : "task_lost");
  return new DibsError(
    "lease_lost",
    `Ticket ${row.id} waits no more (${how}): there is nobody to give its scopes to.`,
    {
      reason: how === "cancelled" ? "released" : "expired",
      next: ["See who waits now: list_waits."],
    },
  );
}
