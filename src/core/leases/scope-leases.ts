import type { Context } from "../context.js";
import { type By, recordBy } from "../events.js";
import { grouped } from "../grouped.js";
import { newId } from "../ids.js";
import { freeUp, lookAtOwn } from "../line/line.js";
import type { ProjectRow, SessionRow, TaskRow } from "../port/rows.js";
import type { GrantedScope, ScopeClaimRow, ScopeEnd, StoredScopeClaim } from "../port/scope-rows.js";
import { StoreConflict, type Tx } from "../port/store.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import { isClaimLive, scopeEndMs } from "../scopes/scope-conflicts.js";
import { indexKey } from "../scopes/scope-keys.js";
import type { Wanted } from "../scopes/scope-names.js";
import { iso } from "../tasks/task-view.js";

/**
 * Leases on names: what a grant, a renewal and an end of one is (R44), beside those on tasks in leases.ts. Callers decide
 * whether a name may be held.
 */

export interface ScopeGrant {
  readonly session: SessionRow;
  readonly project: Pick<ProjectRow, "id">;
  readonly intent: string;
  /** Of a claim with a lease of its own. */
  readonly leaseSeconds: number | null;
  /** The task, and its lease, that it lives by. */
  readonly task: { readonly id: string; readonly lease_id: string; readonly untilMs: number } | null;
  readonly hops?: number;
  /** How often it counts as claimed: once, but for what was more and is made smaller. */
  readonly nested?: number;
}

/**
 * Grants free names, each with a higher fence than every earlier grant of its namespace (R4). Locks are taken, and who is in
 * the way was looked at, before (scopes/scope-conflicts.ts).
 */
export async function grantScopes(
  context: Context,
  wanted: readonly Wanted[],
  { session, project, intent, leaseSeconds, task, hops = 0, nested = 1 }: ScopeGrant,
): Promise<GrantedScope[]> {
  const { tx, nowMs } = context;
  await lapseUnder(
    context,
    wanted.map(({ scope, namespace }) => ({ namespace, key: scope.key })),
  );
  const drawn = new Map<string, number>();
  for (const namespace of new Set(wanted.map((each) => each.namespace))) {
    const count = wanted.filter((each) => each.namespace === namespace).length;
    drawn.set(namespace, (await tx.leases.drawScopeFences(namespace, count)) - count);
  }
  const granted: GrantedScope[] = [];
  for (const { scope, mode, namespace } of wanted) {
    const fence = (drawn.get(namespace) ?? 0) + 1;
    drawn.set(namespace, fence);
    const row: Omit<StoredScopeClaim, "seq"> = {
      id: newId(nowMs),
      workspace_id: context.workspaceId,
      project_id: project.id,
      namespace,
      scope: scope.text,
      kind: scope.kind.name,
      key: scope.key,
      index_key: indexKey(scope.key),
      mode,
      task_id: task?.id ?? null,
      task_lease: task?.lease_id ?? null,
      holder_agent: session.agent_id,
      holder_session: session.id,
      intent,
      nested,
      hops,
      fence,
      claimed_at: nowMs,
      lease_seconds: task ? null : leaseSeconds,
      lease_until: task ? null : nowMs + (leaseSeconds ?? 0) * 1000,
      ended_at: null,
      ended_how: null,
    };
    await tx.leases.grantScope(row);
    granted.push({
      ...row,
      until: task?.untilMs ?? row.lease_until ?? 0,
      session_expires_at: session.expires_at,
      agent_name: session.agent_name,
      implicit: session.implicit,
      client: session.client,
      branch: session.branch,
    });
  }
  if (granted.length > 0) await lookAtOwn(tx, session.id);
  return granted;
}

/**
 * Nothing is granted over a claim whose end isn't on record. Whoever reads the clock, waits for a lock, and then renews such
 * a claim at a time at which it lived would hold it beside the new holder; so it finds that it has ended.
 */
async function lapseUnder(context: Context, names: readonly Pick<ScopeClaimRow, "namespace" | "key">[]): Promise<void> {
  if (context.dead.size === 0) return;
  const index = new OverlapIndex([...context.dead.values()], (row) => row);
  const under = new Set(names.flatMap((name) => index.overlapping(name)));
  if (under.size === 0) return;
  await lapseScopes(context.tx, [...under]);
  for (const { seq } of under) context.dead.delete(seq);
  context.heads.spoil();
  context.woke();
}

type ScopeChange = Partial<Pick<StoredScopeClaim, "mode" | "nested" | "hops" | "intent" | "fence" | "lease_seconds">>;

/** Renews what the session holds: same lease and fence, the later of the present end and now + length (R5). */
export function renewScope(context: Context, row: ScopeClaimRow, change: ScopeChange): Promise<ScopeClaimRow> {
  const length = change.lease_seconds ?? row.lease_seconds ?? 0;
  const until = row.lease_until === null ? null : Math.max(row.lease_until, context.nowMs + length * 1000);
  return keepScope(context, row, { ...change, lease_until: until });
}

/**
 * What was shared becomes the session's alone, or what it holds already is handed to it once more, under the lease it has. It
 * is a grant: its fence is above those of all who shared the name meanwhile, or what is written under it would be taken for
 * older than theirs (R4).
 */
export async function upgradeScope(context: Context, row: ScopeClaimRow, change: ScopeChange): Promise<ScopeClaimRow> {
  await lapseUnder(context, [row]);
  const fence = await context.tx.leases.drawScopeFences(row.namespace, 1);
  return renewScope(context, row, { mode: "exclusive", ...change, fence });
}

/** Changes what is said of a claim while it lives, and leaves its end where it is. */
export async function keepScope(
  context: Context,
  row: ScopeClaimRow,
  change: ScopeChange & Partial<Pick<StoredScopeClaim, "lease_until">>,
): Promise<ScopeClaimRow> {
  const { mode, nested, hops, intent, fence, lease_seconds, lease_until } = { ...row, ...change };
  const becomes = { mode, nested, hops, intent, fence, lease_seconds, lease_until };
  if (!(await context.tx.leases.renewScope(row, context.nowMs, becomes)))
    throw new StoreConflict(`Claim ${row.id} of ${row.scope} was read as held but could not be renewed.`);
  return { ...row, ...becomes, until: lease_until ?? row.until };
}

/** The end of leases on names, and of the sleep of what they kept from being claimed. Whether they had not ended before. */
async function ended(tx: Tx, rows: readonly ScopeClaimRow[], at: number, how: ScopeEnd): Promise<boolean> {
  const seqs = rows.map(({ seq }) => seq);
  const count = await tx.leases.endScopes(seqs, at, how);
  await tx.scopes.unpark(seqs);
  for (const row of rows) freeUp(tx, row, [row]);
  return count > 0;
}

/** What a task's lease held of names ends with it; the task's own event says so. */
export async function endScopesOf(tx: Tx, task: TaskRow, how: ScopeEnd, atMs: number): Promise<void> {
  await tx.scopes.alone(task.workspace_id);
  if (await tx.waits.any) freeUp(tx, task, await tx.scopes.ofTask(task));
  // Sent together: a database far away is waited for once.
  await Promise.all([tx.leases.endScopesOf(task.id, atMs, how), tx.scopes.unparkBehind(task.id)]);
}

/**
 * Gives what lives by a task's lease to whoever has that now: the old leases end where the new ones begin, so that no name
 * is free in between (R16, R39). The task's own event says so.
 */
export async function transferScopesOf(
  context: Context,
  rows: readonly (ScopeClaimRow & { readonly wanted: Wanted })[],
  to: Pick<ScopeGrant, "session" | "project" | "task">,
): Promise<void> {
  if (rows.length === 0 || !to.task) return;
  await ended(context.tx, rows, context.nowMs, "transferred");
  for (const [intent, same] of grouped(rows, (row) => row.intent)) {
    const wanted = same.map((row) => row.wanted);
    await grantScopes(context, wanted, { ...to, intent, leaseSeconds: null });
  }
  context.heads.spoil();
  context.woke();
}

/** The same of a claim with a lease of its own; where the receiver has that name already, it has it once more (R33). */
export async function transferScope(
  context: Context,
  row: ScopeClaimRow & { readonly wanted: Wanted },
  to: Pick<ScopeGrant, "session" | "project"> & { readonly leaseSeconds: number },
  own: ScopeClaimRow | undefined,
): Promise<GrantedScope> {
  const { tx, nowMs } = context;
  if (!(await ended(tx, [row], nowMs, "transferred")))
    throw new StoreConflict(`Claim ${row.id} of ${row.scope} was read as held but could not be transferred.`);
  const hops = row.hops + 1;
  const lease_seconds = to.leaseSeconds;
  context.woke();
  if (own) {
    const mode = own.mode === "exclusive" ? own.mode : row.mode;
    return upgradeScope(context, own, { nested: own.nested + 1, mode, lease_seconds, hops: Math.max(own.hops, hops) });
  }
  const [after] = await grantScopes(context, [row.wanted], { ...to, intent: row.intent, task: null, hops });
  return after as GrantedScope;
}

/** Ends claims by call or by force; each has its event. */
export async function endScopes(
  context: Context,
  rows: readonly ScopeClaimRow[],
  how: ScopeEnd,
  data: object = {},
): Promise<void> {
  if (rows.length === 0) return;
  await ended(context.tx, rows, context.nowMs, how);
  for (const row of rows) {
    await scopeEvent(context.tx, "scope.released", row, { ...data, how }, context);
  }
  context.woke();
}

/**
 * Records claims that the clock ended (R12). Changes nothing that a reader could see. What somebody is renewing at this
 * moment isn't dead: it is waited for, and read again.
 */
export async function lapseScopes(tx: Tx, seen: readonly ScopeClaimRow[]): Promise<void> {
  if (seen.length === 0) return;
  for (const workspaceId of new Set(seen.map((row) => row.workspace_id))) await tx.scopes.alone(workspaceId);
  await tx.scopes.settle(seen);
  const rows = tx.shared ? await tx.scopes.locked(seen.map(({ seq }) => seq)) : seen;
  for (const row of rows) {
    if (row.ended_at !== null || isClaimLive(row, tx.nowMs)) continue;
    const endedMs = Math.max(row.claimed_at, Math.min(scopeEndMs(row), tx.nowMs));
    if (!(await ended(tx, [row], endedMs, "expired"))) continue;
    const expired = { expired_at: iso(endedMs), agent_id: row.holder_agent, session_id: row.holder_session };
    await scopeEvent(tx, "lease.expired", row, expired, null);
    const message = `The lease on ${row.scope} ended at ${iso(endedMs)} without a renewal.`;
    await tellLost(tx, row, "expired", message);
  }
}

/** Ends claims that nobody's call ends, and tells their sessions. */
export async function revokeScopes(tx: Tx, rows: readonly ScopeClaimRow[], reason: string): Promise<void> {
  for (const row of rows) {
    await ended(tx, [row], Math.max(tx.nowMs, row.claimed_at), "revoked");
    await scopeEvent(tx, "scope.released", row, { how: "revoked", reason }, null);
    await tellLost(tx, row, "revoked", `Your claim of ${row.scope} was taken from you: ${reason}`);
  }
}

/** Tells the session that held it; it stands in its answers until acknowledged (R54). */
export async function tellLost(tx: Tx, row: ScopeClaimRow, reason: ScopeEnd, message: string): Promise<void> {
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: row.holder_session,
    type: "lease.lost",
    task_id: null,
    at: tx.nowMs,
    message,
    data: JSON.stringify({ reason, claim_id: row.id, scope: row.scope, fence: row.fence }),
  });
}

/** An event about a name: the caller's, or the clock's. */
export async function scopeEvent(tx: Tx, type: string, row: GrantedScope, data: object, by: By): Promise<void> {
  const { scope, mode, fence, id: claim_id } = row;
  await recordBy(tx, by, type, row, { scope, mode, claim_id, fence, ...data });
}
