import { sharersOf } from "../agents/sharing.js";
import { type By, recordBy } from "../events.js";
import { frozenTickets } from "../holds/freezing.js";
import { newId } from "../ids.js";
import type { Tx } from "../port/store.js";
import type { StoredWait, WaitEnd, WaitedName, WaitRow } from "../port/wait-rows.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import { indexKey } from "../scopes/scope-keys.js";
import type { Wanted } from "../scopes/scope-names.js";
import { mayHavePlaces, withoutFreePlaces } from "../scopes/scope-places.js";
import { iso } from "../tasks/task-view.js";
import { ahead } from "./in-line.js";
import { endOf, isOffered, isWaiting, namesOf, OFFER_MS } from "./line-order.js";
import { askerOf, collide, heldInTheWay, waitsNear, wantedBy } from "./line-tickets.js";

/** Puts a ticket in line; whoever may wait is decided by the caller. */
export async function enterLine(tx: Tx, row: Omit<StoredWait, "seq">, names: readonly WaitedName[], by: By) {
  await tx.waits.add(
    row,
    names.map((name) => ({ ...name, index_key: indexKey(name.key) })),
  );
  await lineEvent(tx, "scope.queued", row, { intent: row.intent, priority: row.priority }, by);
}

/** Ends a ticket: its line is looked at again. False where it had ended. */
export async function endWait(
  tx: Tx,
  wait: WaitRow,
  how: WaitEnd,
  { atMs = tx.nowMs, claims = null, by = null }: { atMs?: number; claims?: readonly string[] | null; by?: By } = {},
): Promise<boolean> {
  await tx.scopes.alone(wait.workspace_id);
  if (!(await tx.waits.end(wait.seq, atMs, how, claims === null ? null : JSON.stringify(claims)))) return false;
  freeUp(tx, wait, namesOf(wait));
  await tx.scopes.unpark([-wait.seq]);
  const type = how === "offer_expired" ? "scope.offer_expired" : "scope.wait_ended";
  if (how !== "granted") await lineEvent(tx, type, wait, { how, ended_at: iso(atMs) }, by);
  if (wait.session_id === null) await startAgain(tx, wait);
  else if (how === "offer_expired" || how === "task_lost") await tell(tx, wait, "wait.ended", ENDED[how]);
  else if (how === "cancelled" && by && by.session?.id !== wait.session_id)
    await tell(
      tx,
      wait,
      "wait.ended",
      `is waited for by you no more: ${by.agent.name} took your ticket out of the line.`,
    );
  return true;
}

const ENDED = {
  offer_expired:
    "was offered to you and not taken in time: the turn is the next one's. Claim it again with wait: true.",
  task_lost: "is waited for no more: you lost the task that it was for.",
} as const;

/** A task that names were kept free for and that nobody took counts from now on as one that was never passed over. */
async function startAgain(tx: Tx, wait: WaitRow): Promise<void> {
  const row = await tx.tasks.byId(wait.workspace_id, wait.task_id ?? "");
  if (row?.status === "open") await tx.tasks.update(row, { passed_since: null });
}

/** Names became free, or one fewer is in line for them: who waits is looked at before the transaction ends. */
export function freeUp(
  tx: Tx,
  { workspace_id }: Pick<StoredWait, "workspace_id">,
  names: readonly Pick<WaitedName, "namespace" | "key">[],
): void {
  for (const { namespace, key } of names) tx.freed.push({ workspace_id, namespace, key });
}

/**
 * Offers what became free to the first in line who can have all that it waits for, and then to the next (R36). Whether
 * anybody was offered anything.
 */
export async function serveLine(tx: Tx): Promise<boolean> {
  let offered = false;
  while (tx.freed.length > 0) {
    const freed = tx.freed.splice(0);
    // Before it is asked whether anybody waits: who got into line at this moment, under the lock, saw this still held.
    for (const workspaceId of new Set(freed.map((each) => each.workspace_id))) await tx.scopes.alone(workspaceId);
    if (!(await tx.waits.any)) return offered;
    const taken: (Wanted & { readonly by: string | null })[] = [];
    for (const wait of await whoWaitedFor(tx, freed)) {
      // Of a hundred who want the same the others needn't be asked about; what a session is offered is in no way of its own.
      const others = taken.filter(({ by }) => by !== wait.session_id && !(by && sharersOf(wait).includes(by)));
      const late = namesOf(wait).some((name) =>
        others.some((each) => each.namespace === name.namespace && collide(name, each) && !mayBoth(name, each)),
      );
      if (late || !(await offerIfFree(tx, wait))) continue;
      taken.push(...wantedBy(wait).map((each) => ({ ...each, by: wait.session_id })));
    }
    offered ||= taken.length > 0;
  }
  return offered;
}

/** Two may have one name where it has places. */
const mayBoth = (name: WaitedName, { scope }: Wanted) => name.key === scope.key && mayHavePlaces(scope);

async function whoWaitedFor(tx: Tx, freed: Tx["freed"]): Promise<WaitRow[]> {
  const index = new OverlapIndex(freed, (name) => name);
  const near = await waitsNear({ tx }, freed);
  return near
    .filter((wait) => isWaiting(wait, tx.nowMs) && !isOffered(wait, tx.nowMs))
    .filter((wait) => namesOf(wait).some((name) => index.overlapping(name).length > 0))
    .sort((a, b) => a.rank - b.rank || a.seq - b.seq);
}

/** Offers a ticket what it waits for, if nobody is in its way. */
export async function offerIfFree(tx: Tx, wait: WaitRow): Promise<boolean> {
  if ((await frozenTickets({ tx, nowMs: tx.nowMs }, [wait])).size > 0) return false;
  const looking = { tx, nowMs: tx.nowMs, workspaceId: wait.workspace_id };
  const [wanted, asker] = [wantedBy(wait), askerOf(wait)];
  const held = await heldInTheWay(looking, [{ wanted, asker }]);
  if ((await withoutFreePlaces(looking, held)).length > 0) return false;
  const both = [...held, ...(await ahead(looking, wanted, asker))];
  if ((await withoutFreePlaces(looking, both)).length > 0) return false;
  const untilMs = tx.nowMs + OFFER_MS;
  await tx.waits.offer(wait.seq, untilMs);
  await lineEvent(tx, "scope.offered", wait, { offer_expires_at: iso(untilMs) }, null);
  if (wait.session_id === null) return true;
  await tell(tx, wait, "wait.offered", `is yours until ${iso(untilMs)}: accept_wait ${wait.id}, or claim it again.`);
  await lookAtOwn(tx, wait.session_id);
  return true;
}

/**
 * A session has more than before. What else it waits for is looked at again: who is before it there may wait for it now, and
 * is passed. Nothing else would look while that one waits for it, and it for nobody's release.
 */
export async function lookAtOwn(tx: Tx, sessionId: string): Promise<void> {
  if (!(await tx.waits.any)) return;
  for (const own of await tx.waits.ofSessions([sessionId]))
    if (isWaiting(own, tx.nowMs) && !isOffered(own, tx.nowMs)) freeUp(tx, own, namesOf(own));
}

/** Takes an offer back: the ticket keeps its place, others may have what of it nobody takes now. */
export async function withdrawOffer(tx: Tx, wait: WaitRow, why: string, by: By = null): Promise<void> {
  await tx.waits.offer(wait.seq, null);
  freeUp(tx, wait, namesOf(wait));
  await tx.scopes.unpark([-wait.seq]);
  await lineEvent(tx, "scope.offer_withdrawn", wait, { reason: why }, by);
  const message = `was offered to you and is no more, as ${why} You keep your place in line.`;
  if (wait.session_id !== null) await tell(tx, wait, "wait.overruled", message);
}

/** Records tickets whose end nobody noticed; each ends as what it is. */
export async function endOverdue(tx: Tx, waits: readonly WaitRow[]): Promise<void> {
  for (const wait of waits) {
    const end = endOf(wait, tx.nowMs);
    if (end) await endWait(tx, wait, end.how, { atMs: end.atMs });
  }
}

/** Of a thousand long names all would be a megabyte, which each heartbeat repeats until the notice is acknowledged. */
const TOLD_MAX = 20;

async function tell(tx: Tx, wait: WaitRow, type: string, message: string): Promise<void> {
  const scopes = namesOf(wait).map(({ scope }) => scope);
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: wait.session_id ?? "",
    type,
    task_id: wait.task_id,
    at: tx.nowMs,
    message: `${shown(scopes)} ${message}`,
    data: JSON.stringify({ ticket: wait.id, scopes: scopes.slice(0, TOLD_MAX), scopes_count: scopes.length }),
  });
}

function shown(scopes: readonly string[]): string {
  const more = scopes.length > 3 ? ` and ${scopes.length - 3} more` : "";
  return `${scopes.slice(0, 3).join(", ")}${more}`;
}

/** Whoever was given what it waits for by another, and isn't there, would hold it without knowing. */
export async function tellGranted(tx: Tx, wait: WaitRow, by: Exclude<By, null>, reason: string): Promise<void> {
  if (by.session?.id === wait.session_id) return;
  await tell(
    tx,
    wait,
    "wait.granted",
    `is yours: ${by.agent.name} gave it to you: ${reason}. Release it if you need it no more.`,
  );
}

/** An event about a ticket: the caller's, or the clock's. */
export async function lineEvent(
  tx: Tx,
  type: string,
  wait: Omit<StoredWait, "seq">,
  data: object,
  by: By,
): Promise<void> {
  const names = namesOf(wait);
  await recordBy(tx, by, type, wait, {
    ticket: wait.id,
    scopes: names.slice(0, TOLD_MAX).map(({ scope, mode }) => ({ scope, mode })),
    scopes_count: names.length,
    waiter_agent_id: wait.agent_id,
    waiter_session_id: wait.session_id,
    ...data,
  });
}
