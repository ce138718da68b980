import { hasNamesOf } from "../agents/sharing.js";
import { grouped } from "../grouped.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { WaitedName, WaitRow, WaitVerbs } from "../port/wait-rows.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import {
  type Asker,
  type Conflict,
  type Found,
  isInTheWay,
  type Looking,
  lookAround,
} from "../scopes/scope-conflicts.js";
import { indexKey } from "../scopes/scope-keys.js";
import { nearTo, type Wanted } from "../scopes/scope-names.js";
import { overlap } from "../scopes/scope-overlap.js";
import { takesPlace, withoutFreePlaces } from "../scopes/scope-places.js";
import { isOffered, isWaiting, namesOf } from "./line-order.js";

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

/** What somebody asks for. */
export interface LineRequest {
  readonly wanted: readonly Wanted[];
  readonly asker: InLine;
}

/** What a ticket asks for. */
export function requestOf(wait: WaitRow): LineRequest {
  return { wanted: wantedBy(wait), asker: askerOf(wait) };
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

/**
 * Tickets of others that want what overlaps, in any place, by request and name; a task's own reservation is its own. For
 * many requests in one look: of fifty tickets asked about one by one each entry into a long line took 0.2 s.
 */
export async function ticketsNear(looking: Looking, requests: readonly LineRequest[]): Promise<Met[]> {
  const all = eachWanted(requests);
  const near = await waitsNear(
    looking,
    all.map(({ wanted }) => keyed(wanted)),
  );
  const names = near
    .filter((wait) => isWaiting(wait, looking.nowMs))
    .flatMap((wait) => namesOf(wait).map((name) => ({ wait, name })))
    .map((each, place) => ({ ...each, place }));
  const index = new OverlapIndex(names, ({ name }) => name);
  return all.flatMap(({ wanted, asker }) => {
    const met = new Map<WaitRow, Met>();
    for (const { wait, name } of index.overlapping(keyed(wanted)).sort((a, b) => a.place - b.place)) {
      if (isOwn(wait, asker) || bothShare(name, wanted)) continue;
      const before = met.get(wait);
      // Who wants one of its places, and a pattern over it as well, is in the way by the pattern.
      if (!before || takesPlace({ wanted, holder: before.name })) met.set(wait, { wanted, wait, name });
    }
    return [...met.values()];
  });
}

function eachWanted(requests: readonly LineRequest[]): { readonly wanted: Wanted; readonly asker: InLine }[] {
  return requests.flatMap(({ wanted, asker }) => wanted.map((each) => ({ wanted: each, asker })));
}

/** Tickets that may want what overlaps any of the names, each once, those before others first; ended ones too. */
export async function waitsNear(
  { tx }: { readonly tx: { readonly waits: Pick<WaitVerbs, "nearAny"> } },
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
  return session !== null && hasNamesOf(session, wait.session_id);
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
export async function hardInTheWay(looking: Looking, requests: readonly LineRequest[]): Promise<Conflict[]> {
  // Most of the time nothing is, however many wait.
  const near = (await looking.tx.waits.anyOffered()) ? await ticketsNear(looking, requests) : [];
  const offered = near.filter(({ wait }) => isOffered(wait, looking.nowMs));
  const held = await heldInTheWay(looking, requests);
  return withoutFreePlaces(looking, [...held, ...offered.map((met) => conflictOf(met, looking.nowMs))]);
}

export async function heldInTheWay(looking: Looking, requests: readonly LineRequest[]): Promise<Conflict[]> {
  const all = eachWanted(requests);
  const around = await lookAround(
    looking,
    all.map(({ wanted }) => wanted),
  );
  return all.flatMap(({ wanted, asker }, at) =>
    (around[at] as Found).live
      .filter((holder) => isInTheWay(holder, wanted, asker))
      .map((holder) => ({ wanted, holder })),
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
