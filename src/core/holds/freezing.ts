import { namesOf } from "../line/line-order.js";
import type { StoredHold } from "../port/hold-rows.js";
import type { Tx } from "../port/store.js";
import type { WaitedName, WaitRow } from "../port/wait-rows.js";
import { overlap } from "../scopes/scope-overlap.js";

/** What a hold is on: a name, or a whole project. */
export type OnHold = Pick<StoredHold, "project_id" | "namespace" | "key">;

/** Whether it freezes a claim of any of the names that is made in the project (R41). */
export function freezes(
  { key, namespace, project_id }: OnHold,
  projectId: string,
  names: readonly Pick<WaitedName, "namespace" | "key">[],
): boolean {
  if (key === null) return project_id === projectId;
  return names.some((name) => name.namespace === namespace && overlap(name.key, key));
}

/** Where a look needs to know of holds: of this transaction, or of none. */
export interface UnderHolds {
  readonly nowMs: number;
  readonly tx: Pick<Tx, "frozen"> & { readonly holds: Pick<Tx["holds"], "unended"> };
}

/** Those of the tickets that a live hold keeps from being offered what they wait for. */
export async function frozenTickets(
  { tx, nowMs }: UnderHolds,
  waits: readonly WaitRow[],
): Promise<ReadonlySet<WaitRow>> {
  const [first] = waits;
  if (!tx.frozen || !first) return NONE;
  const holds = (await tx.holds.unended(first.workspace_id)).filter((hold) => nowMs < hold.expires_at);
  const passes = (allow: string, { agent_id }: WaitRow) =>
    agent_id !== null && (JSON.parse(allow) as string[]).includes(agent_id);
  const isFrozen = (wait: WaitRow) =>
    holds.some((hold) => freezes(hold, wait.project_id, namesOf(wait)) && !passes(hold.allow, wait));
  return new Set(waits.filter(isFrozen));
}

const NONE: ReadonlySet<WaitRow> = new Set();
