import type { Context } from "../context.js";
import { freeUp, withdrawOffer } from "../line/line.js";
import { isOffered, namesOf } from "../line/line-order.js";
import type { StoredHold } from "../port/hold-rows.js";
import type { Tx } from "../port/store.js";
import type { WaitRow } from "../port/wait-rows.js";
import { nearTo } from "../scopes/scope-names.js";
import { iso } from "../tasks/task-view.js";
import { freezes, frozenTickets, type OnHold } from "./freezing.js";
import type { Hold } from "./known-holds.js";

/** A hold's end frees the line of so many tickets of a project at once; those behind them look when these have had their turn. */
const TICKETS_MAX = 1_000;

type Frozen = OnHold & Pick<StoredHold, "workspace_id">;

async function ticketsOf(tx: Tx, hold: Frozen): Promise<WaitRow[]> {
  if (!(await tx.waits.any)) return [];
  const { key, namespace, workspace_id, project_id } = hold;
  if (key !== null && namespace !== null)
    return (await tx.waits.nearAny(namespace, [nearTo({ key })])).filter((wait) =>
      freezes(hold, wait.project_id, namesOf(wait)),
    );
  return tx.waits.list(workspace_id, { projectId: project_id }, tx.nowMs, { limit: TICKETS_MAX, after: null });
}

/**
 * What was offered of it and not taken is offered no more: its turn comes when the hold is over. Until then it is in nobody's
 * way, and whoever is behind it for what isn't frozen, or passes the hold, is looked at.
 */
export async function freezeLine(context: Context, hold: Omit<StoredHold, "seq">): Promise<void> {
  const { tx } = context;
  const why = `${hold.scope ?? "the project"} is frozen until ${iso(hold.expires_at)}: ${hold.reason}.`;
  for (const wait of await frozenTickets(context, await ticketsOf(tx, hold))) {
    if (isOffered(wait, tx.nowMs)) {
      await withdrawOffer(tx, wait, why, context);
      continue;
    }
    freeUp(tx, wait, namesOf(wait));
    await tx.scopes.unpark([-wait.seq]);
  }
}

/** What keeps a ticket from being offered what it waits for. */
export function holdsOn(holds: readonly Hold[], wait: WaitRow): Hold[] {
  const passes = (hold: Hold) => wait.agent_id !== null && hold.allowed.has(wait.agent_id);
  return holds.filter((hold) => freezes(hold, wait.project_id, namesOf(wait)) && !passes(hold));
}

/** Who waits for what it froze is looked at before the transaction ends. */
export async function thawLine(tx: Tx, hold: Frozen): Promise<void> {
  for (const wait of await ticketsOf(tx, hold)) freeUp(tx, wait, namesOf(wait));
}
