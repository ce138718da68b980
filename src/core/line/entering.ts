import { DibsError } from "../../contract/errors.js";
import { noticesOf } from "../agents/notices.js";
import type { Context, Reply } from "../context.js";
import { newId } from "../ids.js";
import type { WaitRow } from "../port/wait-rows.js";
import { type Conflict, type Place, scopeEndMs } from "../scopes/scope-conflicts.js";
import type { Claiming } from "../scopes/scope-granting.js";
import type { Wanted } from "../scopes/scope-names.js";
import { holdingOf } from "../tasks/task-scopes.js";
import { deadlockOf } from "./deadlock.js";
import { countAhead } from "./in-line.js";
import { enterLine, freeUp } from "./line.js";
import { isBefore, namesOf, rankOf } from "./line-order.js";
import { askerOf, type InLine, ticketsNear, waitedName, waitingOf, wantedBy } from "./line-tickets.js";
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

/** The place in line that a refused request would get, as far as its turn there would come (R37). */
export async function openPlace(context: Context, asked: Claiming, priority: number): Promise<Place> {
  const { wanted } = asked;
  const asker = asked.asker.ticket === null ? await standingFor(context, asked, priority) : asked.asker;
  const ends = asker.ticket === null && (await context.tx.waits.any);
  if (ends && (await deadlockOf(context, asker, wanted))) return "deadlock";
  return (await countAhead(context, wanted, asker)) + 1;
}

async function enter(context: Context, asked: Claiming, { priority, mark }: Waiting): Promise<string> {
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
  const asker = await standingFor(context, asked, priority);
  const deadlock = await deadlockOf(context, asker, wanted);
  if (deadlock) throw deadlock;
  const session = asker.session?.id ?? (await context.holder()).id;
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
    rank: asker.rank,
    ...NOT_OFFERED,
  };
  await enterLine(context.tx, ticket, names, context);
  await lookAtPassers(context, session);
  return ticket.id;
}

/** Who would stand in line: whoever holds the task that it is for, be it the asker's parent; behind those whom that awaits. */
async function standingFor(context: Context, { row, wanted, asker }: Claiming, priority: number): Promise<InLine> {
  const session = row === null ? asker.session : (await holdingOf(context, row)).session;
  const inLine = { ...asker, session, rank: rankOf(context.nowMs, priority) };
  return { ...inLine, rank: await behindAwaited(context, wanted, inLine) };
}

/**
 * The rank, no further in front than those whom the asker waits for already: with a high priority it would get before them
 * into a line, and they would then wait for each other.
 */
async function behindAwaited(context: Context, wanted: readonly Wanted[], asker: InLine): Promise<number> {
  const own = asker.session ? await waitingOf(context, [asker.session.id]) : [];
  if (own.length === 0) return asker.rank;
  const awaited = await awaitedBy(context, own);
  const passed = (await ticketsNear(context, [{ wanted, asker }])).filter(
    ({ wait }) => awaited.has(wait.session_id ?? "") && !isBefore(wait, { rank: asker.rank, ticket: null }),
  );
  return Math.max(asker.rank, ...passed.map(({ wait }) => wait.rank));
}

/** Whom the session waits for now may pass those who wait for it, which it could not before: it is looked at again. */
async function lookAtPassers(context: Context, sessionId: string): Promise<void> {
  const awaited = await awaitedBy(context, await waitingOf(context, [sessionId]));
  for (const wait of await waitingOf(context, [...awaited])) freeUp(context.tx, wait, namesOf(wait));
}
