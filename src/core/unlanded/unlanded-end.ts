import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { recordBy } from "../events.js";
import { grouped } from "../grouped.js";
import { newId } from "../ids.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { Tx } from "../port/store.js";
import type { UnlandedRow } from "../port/unlanded-rows.js";
import { requireReason } from "../required-reason.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import { isClaimLive } from "../scopes/scope-conflicts.js";
import { nearTo } from "../scopes/scope-names.js";
import { iso } from "../tasks/task-view.js";
import { ended, tell, unlandedOf } from "./unlanded.js";
import { dropOffer } from "./unlanded-offers.js";
import { hasEnded, unlandedView } from "./unlanded-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Anybody may see in git that it has landed, and say so; its steward hears of it. Said twice, it is told once. */
export const land_unlanded: Handler<Input<"land_unlanded">> = async (context, input) => {
  const row = await unlandedOf(context, input.unlanded_id);
  if (hasEnded(row, context.nowMs)) return { body: unlandedView(row, context.nowMs) };
  const { how = null, commit = null } = input;
  await tell(context, "unlanded.landed", row, { scopes: JSON.parse(row.scopes), how, commit });
  await tellSteward(context, row);
  return ended(context, row, "landed");
};

/** The session that declared it, unless it is the one that says so, and all that still hold some of it (R42). */
async function tellSteward(context: Context, row: UnlandedRow): Promise<void> {
  const held = new Map<string, string[]>();
  for (const claim of await stillHeld(context, row))
    held.set(claim.holder_session, [...(held.get(claim.holder_session) ?? []), claim.scope]);
  const own = context.session?.id;
  if (row.session_id !== null && row.session_id !== own && !held.has(row.session_id)) held.set(row.session_id, []);
  for (const [session_id, scopes] of held) {
    const still = scopes.length === 0 ? "" : ` You still hold ${scopes.slice(0, 3).join(", ")}: release_scopes.`;
    await context.tx.notes.addNotice({
      id: newId(context.nowMs),
      session_id,
      type: "unlanded.landed",
      task_id: null,
      at: context.nowMs,
      message: `${row.branch} has landed, and is no unlanded work any more.${still}`,
      data: JSON.stringify({ unlanded_id: row.id, branch: row.branch, still_held: scopes }),
    });
  }
}

/** Claims of the steward's that overlap it, by the names as they were declared: what they say may mean nothing by now. */
async function stillHeld(context: Context, row: UnlandedRow): Promise<ScopeClaimRow[]> {
  const { tx, nowMs } = context;
  const names = await tx.unlanded.scopesOf(row.seq);
  const index = new OverlapIndex(names, (name) => name);
  const found: ScopeClaimRow[] = [];
  for (const [namespace, named] of grouped(names, (name) => name.namespace)) {
    const near = await tx.scopes.nearAny(namespace, named.map(nearTo));
    const theirs = near.filter((claim) => claim.holder_agent === row.agent_id && isClaimLive(claim, nowMs));
    found.push(...theirs.filter((claim) => index.meets(claim)));
  }
  return found.sort((a, b) => a.seq - b.seq);
}

/** Ends what is declared for branches that aren't named; a list that came out empty by mistake would end everything. */
export const prune_unlanded: Handler<Input<"prune_unlanded">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  if (input.force) requireReason(input.reason);
  else if (input.branches.length === 0)
    throw invalidInput(
      "branches",
      "is empty, which would end all unlanded work of the project: force says that it's meant",
    );
  const named = new Set(input.branches);
  const pruned = [];
  for (const row of await context.tx.unlanded.live(project.id, context.nowMs)) {
    if (named.has(row.branch)) continue;
    const reason = input.reason === undefined ? {} : { reason: input.reason };
    await tell(context, "unlanded.pruned", row, reason);
    pruned.push((await ended(context, row, "pruned")).body);
  }
  return { body: { pruned } };
};

/** Records what the clock ended, once each (R12); how many. Nothing that a reader could see changes. */
export async function expireUnlanded(tx: Tx, limit: number): Promise<number> {
  const due = await tx.unlanded.due(tx.nowMs, limit);
  for (const row of due) {
    await dropOffer({ tx }, row);
    await tx.unlanded.end(row.seq, row.expires_at, "expired");
    const data = { unlanded_id: row.id, branch: row.branch, expired_at: iso(row.expires_at) };
    await recordBy(tx, null, "unlanded.expired", row, data);
  }
  return due.length;
}
