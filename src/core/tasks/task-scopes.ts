import type { NewTask } from "../../contract/task.js";
import { sharersOf } from "../agents/sharing.js";
import type { Context } from "../context.js";
import { roomForAll } from "../leases/claim-limit.js";
import { grant } from "../leases/leases.js";
import { endScopes, grantScopes, type ScopeGrant } from "../leases/scope-leases.js";
import { inTheWayOf } from "../line/in-line.js";
import { endWait } from "../line/line.js";
import { isBefore, isOffered, patienceMs, rankOf } from "../line/line-order.js";
import { hardInTheWay, type InLine, waitedName } from "../line/line-tickets.js";
import { waitingFor } from "../line/wait-graph.js";
import type { ProjectRow, TaskRow } from "../port/rows.js";
import type { DeclaringRow, ScopeClaimRow } from "../port/scope-rows.js";
import { titled } from "../quoted.js";
import { type Conflict, scopeConflict, scopeEndMs } from "../scopes/scope-conflicts.js";
import { indexKey } from "../scopes/scope-keys.js";
import { nearTo, type Wanted, wantedOf } from "../scopes/scope-names.js";
import { overlap } from "../scopes/scope-overlap.js";
import { taskState } from "./task-state.js";

/** What a task says it will touch, as its row has it (R16). Throws `invalid_scope`. */
export function declaredOf(
  context: Context,
  given: NewTask["scopes"] | null,
  project: ProjectRow,
): { scoped: number; scopes: string | null } {
  const wanted = wantedOf(context, given ?? [], project);
  if (wanted.length === 0) return { scoped: 0, scopes: null };
  return { scoped: 1, scopes: JSON.stringify(wanted.map(({ scope, mode }) => ({ scope: scope.text, mode }))) };
}

/** Writes where they are found by whoever frees one. */
export async function writeDeclared(context: Context, row: TaskRow): Promise<void> {
  const wanted = await declared(context, row);
  await context.tx.scopes.declare(
    row.seq,
    wanted.map(({ scope, mode, namespace }, place) => ({
      task_seq: row.seq,
      place,
      namespace,
      scope: scope.text,
      kind: scope.kind.name,
      key: scope.key,
      index_key: indexKey(scope.key),
      mode,
    })),
  );
}

/** The same as a ticket has them. */
export async function namesDeclared(context: Context, row: TaskRow) {
  const wanted = await declared(context, row);
  return { wanted, names: wanted.map(waitedName) };
}

/** What a task declares, in the words of its project. */
export async function declared(
  context: Context,
  row: Pick<TaskRow, "id" | "project_id" | "scopes">,
): Promise<Wanted[]> {
  if (row.scopes === null) return [];
  const project = await context.project(row.project_id);
  if (!project) throw new Error(`Project ${row.project_id} of task ${row.id} is not there.`);
  return wantedOf(context, JSON.parse(row.scopes), project);
}

/** Who keeps the session from the scopes of a task; nobody where they are free. */
export async function takenFrom(context: Context, row: TaskRow): Promise<Conflict[]> {
  if (row.scopes === null) return [];
  return inTheWayOf(context, await declared(context, row), await askerFor(context, row));
}

/** Who asks for a task's scopes: in line by the task's priority, or by what keeps them free for it. */
async function askerFor(context: Context, row: TaskRow): Promise<InLine> {
  const [kept] = row.passed_since === null ? [] : await context.tx.waits.ofTask(row.id);
  const rank = rankOf(context.nowMs, row.priority);
  return {
    session: context.session,
    taskId: row.id,
    rank: kept?.rank ?? rank,
    ticket: kept?.seq ?? null,
    newcomer: true,
  };
}

/** Grants a task whose scopes are free, and these with it: they live by its lease, and end with it (R16). */
export async function grantWithScopes(context: Context, row: TaskRow, leaseSeconds: number): Promise<TaskRow> {
  const wanted = await declared(context, row);
  if (wanted.length > 0) await roomForAll(context, wanted.length + 1);
  const granted = await grant(context, row, leaseSeconds);
  await claimFor(context, granted, wanted);
  if (row.passed_since !== null)
    for (const kept of await context.tx.waits.ofTask(row.id)) await endWait(context.tx, kept, "granted");
  return granted;
}

/** Claims names for a task that is held, under its lease. */
async function claimFor(context: Context, row: TaskRow, wanted: readonly Wanted[]): Promise<void> {
  if (wanted.length === 0) return;
  const held = await holdingOf(context, row);
  const intent = titled(row.content);
  await grantScopes(context, wanted, { ...held, project: { id: row.project_id }, intent, leaseSeconds: null });
}

/** The session that holds the task, whoever asks, and the lease that its names live by. */
export async function holdingOf(context: Context, row: TaskRow): Promise<Pick<ScopeGrant, "session" | "task">> {
  const own = context.session?.id === row.holder_session ? context.session : null;
  const session = own ?? (await context.tx.sessions.byId(context.workspaceId, row.holder_session ?? ""));
  if (!session) throw new Error(`Task ${row.id} is held by a session that isn't there.`);
  const untilMs = taskState(row, context.nowMs).leaseEndMs ?? context.nowMs;
  return { session, task: { id: row.id, lease_id: row.lease_id ?? "", untilMs } };
}

/** A task that only somebody in line keeps from being claimed is looked at again so often, as that one may be passed by some. */
const LINE_LOOK_MS = 60_000;

/**
 * A task that can't be had because of a claim sleeps until that has ended, with all others that meet it: 10,000 of them
 * in front of the one that is free are looked at once, not by every claim. None sleeps past its patience, however long that
 * claim is kept: then its own scopes are reserved. False where it has ended just now.
 */
export async function park(context: Context, row: TaskRow, conflicts: readonly Conflict[]): Promise<boolean> {
  const { nowMs, settings } = context;
  const held = conflicts.filter(({ wait }) => !wait);
  const [first, ...more] = (held.length > 0 ? held : conflicts) as [Conflict, ...Conflict[]];
  const { holder, wait: line } = more.reduce(
    (soonest, each) => (scopeEndMs(each.holder) < scopeEndMs(soonest.holder) ? each : soonest),
    first,
  );
  const near = await context.tx.scopes.declaredNear(holder.namespace, nearTo(holder));
  // Who only waits is in the way of those behind it.
  const behind = (each: DeclaringRow) =>
    !line || isOffered(line, nowMs) || isBefore(line, { rank: rankOf(nowMs, each.priority), ticket: null });
  const met = near.filter((each) => each.task_seq !== row.seq && meets(each, holder) && behind(each));
  const awake = starvedAmong(met, nowMs - patienceMs(settings));
  const others = met.map(({ task_seq }) => task_seq).filter((seq) => !awake.has(seq));
  const untilMs = line && !isOffered(line, nowMs) ? nowMs + LINE_LOOK_MS : scopeEndMs(holder);
  return context.tx.scopes.park([row.seq, ...others], holder.seq, { nowMs, untilMs, patienceMs: patienceMs(settings) });
}

/** So many at once get into line for their scopes: of ten thousand that starved together the others have their turn behind them. */
const STARVED_LOOKED_AT = 16;

/**
 * Those that starve are each looked at, as their own scopes are reserved then. Put to sleep with the others they would be
 * passed over for ever, while somebody in front of them is met first each time.
 */
function starvedAmong(met: readonly DeclaringRow[], sinceMs: number): ReadonlySet<number> {
  const starved = met.filter(({ passed_since }) => passed_since !== null && passed_since <= sinceMs);
  const first = starved.sort((a, b) => b.priority - a.priority || a.task_seq - b.task_seq);
  return new Set([...new Set(first.map(({ task_seq }) => task_seq))].slice(0, STARVED_LOOKED_AT));
}

function meets(declaredBy: DeclaringRow, claim: ScopeClaimRow): boolean {
  return (declaredBy.mode !== "shared" || claim.mode !== "shared") && overlap(declaredBy.key, claim.key);
}

/** What the session's own free-standing claims and tickets hold up is no bar to itself, nor what waits for it. */
export async function wakeOwn(context: Context): Promise<void> {
  const { session } = context;
  if (!session) return;
  const ids = [session.id, ...sharersOf(session)];
  const claims = (await context.tx.scopes.heldBySessions(ids)).filter((claim) => claim.task_id === null);
  const own = claims.map(({ seq }) => seq);
  if (context.tx.waited || context.tx.waits.added) {
    const tickets = await context.tx.waits.ofSessions(ids);
    const passed = await waitingFor(context, session.id);
    own.push(...[...tickets.map(({ seq }) => seq), ...passed].map((seq) => -seq));
  }
  if (own.length > 0 && (await context.tx.scopes.unpark(own)) > 0) context.heads.spoil();
}

/**
 * Refuses what a held task is to touch from now on, where others are in its way or its holder would hold too much. Throws
 * `scope_conflict`, `limit_exceeded`.
 */
export async function refuseMore(context: Context, before: TaskRow, after: TaskRow): Promise<void> {
  const conflicts = await takenFrom(context, after);
  if (conflicts.length > 0) throw scopeConflict(context, conflicts, null);
  const [was, is] = [await declared(context, before), await declared(context, after)];
  if (is.length <= was.length) return;
  const holder = await context.tx.agents.byId(context.workspaceId, after.holder_agent ?? "");
  await roomForAll(context, is.length - was.length, holder);
}

/**
 * Refuses a new holder what the task holds already, where the new one couldn't have it beside what others hold or are
 * offered. Whoever waits for it waits on: it is moved, and never free (R16, R19).
 */
export async function refuseMoved(context: Context, row: TaskRow): Promise<void> {
  const conflicts = await hardInTheWay(context, [
    { wanted: await declared(context, row), asker: await askerFor(context, row) },
  ]);
  if (conflicts.length > 0) throw scopeConflict(context, conflicts, null);
}

/** The holder of a task has changed what it touches: the new ones are claimed, the others are free. */
export async function changeHeld(context: Context, before: TaskRow, after: TaskRow): Promise<void> {
  const [was, is] = [await declared(context, before), await declared(context, after)];
  const among = (all: readonly Wanted[]) => (each: Wanted) => all.some((other) => isSameName(each, other));
  const gone = was.filter((each) => !among(is)(each));
  const held = await context.tx.scopes.ofTask(before);
  // What was claimed beside what it declared stays with its lease.
  const ended = held.filter((row) =>
    gone.some(({ scope, namespace }) => row.key === scope.key && row.namespace === namespace),
  );
  await endScopes(context, ended, "released");
  await claimFor(
    context,
    after,
    is.filter((each) => !among(was)(each)),
  );
}

function isSameName(a: Wanted, b: Wanted): boolean {
  return a.namespace === b.namespace && a.scope.key === b.scope.key && a.mode === b.mode;
}
