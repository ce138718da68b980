import { DibsError } from "../../contract/errors.js";
import { noticesOf } from "../agents/notices.js";
import type { Context, Reply } from "../context.js";
import { newId } from "../ids.js";
import type { WaitRow } from "../port/wait-rows.js";
import { type Conflict, scopeEndMs } from "../scopes/scope-conflicts.js";
import type { Claiming } from "../scopes/scope-granting.js";
import { refuseDeadlock } from "./deadlock.js";
import { countAhead, inTheWayOf } from "./in-line.js";
import { enterLine, freeUp } from "./line.js";
import { isBefore, namesOf, rankOf } from "./line-order.js";
import { askerOf, ticketsNear, waitedName, waitingOf, wantedBy } from "./line-tickets.js";
import { awaitedBy } from "./wait-graph.js";
import { NOT_OFFERED, ticketOf, waitOf } from "./waits.js";

interface Waiting {
  readonly priority: number;
  readonly mark: string;
  readonly ticket: WaitRow | null;
  readonly conflicts: readonly Conflict[];
}

/** Gets into line, or stays there. Throws `would_deadlock` and, with too many tickets, `limit_exceeded`. */
export async function wait(context: Context, asked: Claiming, waiting: Waiting): Promise<Reply> {
  const { conflicts } = waiting;
  const id = waiting.ticket?.id ?? (await enter(context, asked, waiting));
  // From its ticket: it may stand further behind than it asked for, and isn't before itself.
  const ticket = await waitOf(context, id);
  const position = (await countAhead(context, wantedBy(ticket), askerOf(ticket))) + 1;
  const body = { claims: [], ticket: id, position, notices: await noticesOf(context) };
  return { body, otherwise: true, emptyUntilMs: soonest(conflicts) };
}

/** When the clock alone may free what is in the way. */
function soonest(conflicts: readonly Conflict[]): number | null {
  const ends = conflicts.filter(({ wait: other }) => !other || other.offered_until !== null);
  return ends.length === 0 ? null : Math.min(...ends.map(({ holder }) => scopeEndMs(holder)));
}

async function enter(context: Context, asked: Claiming, { priority, mark, conflicts }: Waiting): Promise<string> {
  const { row, wanted, project, intent, leaseSeconds } = asked;
  const { waits_per_agent_max: limit, claims_per_agent_max: most } = context.settings;
  // It would be offered what nobody lets it take, and keep it from others.
  if (wanted.length > most)
    throw new DibsError(
      "limit_exceeded",
      `${wanted.length} scopes are more than an agent may hold at once: claims_per_agent_max allows ${most}.`,
      { setting: "claims_per_agent_max", limit: most },
    );
  await context.tx.scopes.alone(context.workspaceId);
  // The same may have been asked on another node until the lock was had.
  const before = await ticketOf(context, mark);
  if (before) return before.id;
  if ((await context.tx.waits.countOfAgent(context.agent.id)) >= limit)
    throw new DibsError(
      "limit_exceeded",
      `${context.agent.name} waits for ${limit} things already, the most that waits_per_agent_max allows; leave some lines: cancel_wait.`,
      { setting: "waits_per_agent_max", limit },
    );
  const rank = await behindAwaited(context, asked, rankOf(context.nowMs, priority));
  const asker = { ...asked.asker, rank };
  // Further behind than it asked for it has more before it.
  const inTheWay = rank === asked.asker.rank ? conflicts : await inTheWayOf(context, wanted, asker);
  await refuseDeadlock(context, asker, wanted, inTheWay);
  const session = row?.holder_session ?? (await context.holder()).id;
  const names = wanted.map(waitedName);
  const ticket = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    agent_id: context.agent.id,
    session_id: session,
    task_id: row?.id ?? null,
    task_lease: row?.lease_id ?? null,
    mark,
    wanted: JSON.stringify(names),
    intent,
    lease_seconds: leaseSeconds,
    priority,
    asked_at: context.nowMs,
    rank,
    ...NOT_OFFERED,
  };
  await enterLine(context.tx, ticket, names, context);
  await lookAtPassers(context, session);
  return ticket.id;
}

/**
 * The rank, no further in front than those whom the asker waits for already: with a high priority it would get before them
 * into a line, and they would then wait for each other.
 */
async function behindAwaited(context: Context, { wanted, asker }: Claiming, rank: number): Promise<number> {
  const own = asker.session ? await waitingOf(context, [asker.session.id]) : [];
  if (own.length === 0) return rank;
  const awaited = await awaitedBy(context, own);
  const met = await ticketsNear(context, [{ wanted, asker }]);
  const passed = met.filter(
    ({ wait }) => awaited.has(wait.session_id ?? "") && !isBefore(wait, { rank, ticket: null }),
  );
  return Math.max(rank, ...passed.map(({ wait }) => wait.rank));
}

/** Whom the session waits for now may pass those who wait for it, which it could not before: it is looked at again. */
async function lookAtPassers(context: Context, sessionId: string): Promise<void> {
  const awaited = await awaitedBy(context, await waitingOf(context, [sessionId]));
  for (const wait of await waitingOf(context, [...awaited])) freeUp(context.tx, wait, namesOf(wait));
}
