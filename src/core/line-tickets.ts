import { grouped } from "./grouped.js";
import { isOffered, isWaiting, namesOf } from "./line-order.js";
import { OverlapIndex } from "./overlap-index.js";
import { type Asker, type Conflict, type Found, isInTheWay, type Looking, lookAround } from "./scope-conflicts.js";
import { indexKey } from "./scope-keys.js";
import { nearTo, type Wanted } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import { mayHavePlaces, takesPlace, withoutFreePlaces } from "./scope-places.js";
import type { ScopeClaimRow } from "./scope-rows.js";
import type { WaitedName, WaitRow } from "./wait-rows.js";

/** For whom something is asked, and from where in line: its ticket, if it has one, and what rank it has or would get. */
export interface InLine extends Asker {
  readonly rank: number;
  readonly ticket: number | null;
  /** It asks for what it was in no line for: a session that takes a task whose names were kept free, too. */
  readonly newcomer: boolean;
}

/** Who asks by a ticket. */
export function askerOf(wait: WaitRow): InLine {
  const session = wait.session_id === null ? null : { id: wait.session_id, shared_by: wait.shared_by };
  return { session, taskId: wait.task_id, rank: wait.rank, ticket: wait.seq, newcomer: false };
}

/** What a ticket wants, as a request has it. */
export function wantedBy(wait: WaitRow): Wanted[] {
  return namesOf(wait).map(({ scope, kind, key, mode, namespace }) => ({
    scope: { text: scope, kind: { name: kind }, key },
    mode,
    namespace,
  }));
}

/** The same the other way round. */
export function waitedName({ scope, mode, namespace }: Wanted): WaitedName {
  return { scope: scope.text, kind: scope.kind.name, key: scope.key, mode, namespace };
}

/** A ticket in the way of one of the names wanted, and by which of its own. */
export interface Met {
  readonly wanted: Wanted;
  readonly wait: WaitRow;
  readonly name: WaitedName;
}

/** Tickets of others that want what overlaps, in any place; a task's own reservation is its own. */
export async function ticketsNear(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Met[]> {
  const met = new Map<Wanted, Met[]>(wanted.map((each) => [each, []]));
  const index = new OverlapIndex(wanted, keyed);
  const placed = wanted.some(({ scope }) => mayHavePlaces(scope));
  for (const wait of await waitsNear(looking, wanted.map(keyed))) {
    if (!isWaiting(wait, looking.nowMs) || isOwn(wait, asker)) continue;
    const by = new Map<Wanted, WaitedName>();
    for (const name of namesOf(wait)) {
      if (!placed && by.size === wanted.length) break;
      for (const each of index.overlapping(name)) {
        if (bothShare(name, each)) continue;
        const before = by.get(each);
        // Who wants one of its places, and a pattern over it as well, is in the way by the pattern.
        if (!before || takesPlace({ wanted: each, holder: before })) by.set(each, name);
      }
    }
    for (const [each, name] of by) met.get(each)?.push({ wanted: each, wait, name });
  }
  return [...met.values()].flat();
}

/** Tickets that may want what overlaps any of the names, each once, those before others first; ended ones too. */
export async function waitsNear(
  { tx }: Looking,
  names: readonly Pick<WaitedName, "namespace" | "key">[],
): Promise<WaitRow[]> {
  const found = new Map<number, WaitRow>();
  const byNamespace = grouped(names, ({ namespace }) => namespace);
  for (const [namespace, all] of byNamespace) {
    const places = new Map(all.map((each) => [indexKey(each.key), nearTo(each)]));
    for (const wait of await tx.waits.nearAny(namespace, [...places.values()])) {
      if (!found.has(wait.seq)) found.set(wait.seq, wait);
    }
  }
  const waits = [...found.values()];
  return byNamespace.size === 1 ? waits : waits.sort((a, b) => a.rank - b.rank || a.seq - b.seq);
}

const keyed = ({ namespace, scope }: Wanted) => ({ namespace, key: scope.key });

function isOwn(wait: WaitRow, { session, taskId, ticket }: InLine): boolean {
  if (wait.seq === ticket) return true;
  if (wait.session_id === null) return wait.task_id === taskId;
  return session !== null && (wait.session_id === session.id || wait.session_id === session.shared_by);
}

/** Whether who wants the one can't have it beside the other. */
export function collide(name: Pick<WaitedName, "key" | "mode">, wanted: Wanted): boolean {
  return !bothShare(name, wanted) && overlap(name.key, wanted.scope.key);
}

/** Two that share a name don't keep it from each other. */
export function bothShare(name: Pick<WaitedName, "mode">, { mode }: Wanted): boolean {
  return name.mode === "shared" && mode === "shared";
}

/** What others hold, or are offered: only these let go of it. */
export async function hardInTheWay(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  const offered = (await ticketsNear(looking, wanted, asker)).filter(({ wait }) => isOffered(wait, looking.nowMs));
  const held = await heldInTheWay(looking, wanted, asker);
  return withoutFreePlaces(looking, [...held, ...offered.map((met) => conflictOf(met, looking.nowMs))]);
}

export async function heldInTheWay(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  const around = await lookAround(looking, wanted);
  return wanted.flatMap((each, at) =>
    (around[at] as Found).live
      .filter((holder) => isInTheWay(holder, each, asker))
      .map((holder) => ({ wanted: each, holder })),
  );
}

export function conflictOf({ wanted, wait, name }: Met, nowMs: number): Conflict {
  return { wanted, holder: asHolder(wait, name, nowMs), wait };
}

/** A ticket as a row of the claims table: who waits, since when. */
export function asHolder(wait: WaitRow, name: WaitedName, nowMs: number): ScopeClaimRow {
  const { id, workspace_id, project_id, task_id, task_lease, intent, asked_at } = wait;
  return {
    seq: -wait.seq,
    ...{ id, workspace_id, project_id, task_id, task_lease, intent },
    namespace: name.namespace,
    scope: name.scope,
    kind: name.kind,
    key: name.key,
    index_key: indexKey(name.key),
    mode: name.mode,
    holder_agent: wait.agent_id ?? "",
    holder_session: wait.session_id ?? "",
    nested: 0,
    hops: 0,
    fence: 0,
    claimed_at: asked_at,
    lease_seconds: null,
    lease_until: null,
    ended_at: null,
    ended_how: null,
    until: wait.offered_until ?? wait.until ?? nowMs,
    session_expires_at: null,
    agent_name: wait.agent_name ?? "",
    implicit: wait.implicit ?? 0,
    client: wait.client,
    branch: wait.branch,
  };
}

export async function waitingOf({ tx, nowMs }: Looking, sessionIds: readonly string[]): Promise<WaitRow[]> {
  if (sessionIds.length === 0) return [];
  return (await tx.waits.ofSessions(sessionIds)).filter((wait) => isWaiting(wait, nowMs));
}
