import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { leaseSecondsOf } from "../leases/leases.js";
import { endScopes, keepScope, lapseScopes, renewScope } from "../leases/scope-leases.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import { iso } from "../tasks/task-view.js";
import { narrowedTo } from "./narrowed.js";
import { isClaimLive, isProven, scopeEndMs } from "./scope-conflicts.js";
import { namespaceOf, scopeOf } from "./scope-names.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;
type Item = z.output<Operations["heartbeat_scopes"]["output"]>["items"][number];

/** What a call means: a claim of the session, or one that it named and doesn't hold. */
type Chosen = { readonly row: ScopeClaimRow } | Lost;

interface Lost {
  readonly claimId: string | null;
  readonly scope: string | null;
  readonly reason: string;
  /** What a claim that was narrowed is now. */
  readonly now?: readonly string[];
}

/** Keeps claims alive, an answer for each (R9). */
export const heartbeat_scopes: Handler<Input<"heartbeat_scopes">> = async (context, input) => {
  const asked = input.ttl_seconds === undefined ? undefined : leaseSecondsOf(context, input.ttl_seconds, "ttl_seconds");
  const items: Item[] = [];
  for (const chosen of await chosenBy(context, input)) {
    if (!("row" in chosen)) items.push(lostItem(chosen));
    // It lives by its task's lease, which the task's heartbeat renews (R16).
    else if (chosen.row.task_id !== null) items.push(itemOf(chosen.row, "kept", WITH_TASK, context));
    else {
      const lease = asked === undefined ? {} : { lease_seconds: asked };
      const said = input.intent === undefined ? {} : { intent: input.intent, hops: 0 };
      items.push(itemOf(await renewScope(context, chosen.row, { ...lease, ...said }), "renewed", null, context));
    }
  }
  return { body: { items, notices: await noticesOf(context) }, beat: { items } };
};

/** The answer to a heartbeat that came before, as things are now: what is dead by then is lost (R59). */
export async function keptAnew(context: Context, before: readonly Item[]) {
  const ids = before.flatMap(({ outcome, claim_id }) => (outcome === "lost" || claim_id === null ? [] : [claim_id]));
  const now = new Map((await byIds(context, ids, undefined)).map((chosen, at) => [ids[at], chosen]));
  const items = before.map((item) => {
    const chosen = now.get(item.claim_id ?? "");
    if (!chosen) return item;
    return "row" in chosen ? itemOf(chosen.row, item.outcome, item.reason, context) : lostItem(chosen);
  });
  return { items, notices: await noticesOf(context) };
}

const WITH_TASK = "goes with its task";

/** Gives claims back; what was claimed several times is kept until it is released as often (R33). */
export const release_scopes: Handler<Input<"release_scopes">> = async (context, input) => {
  const items: Item[] = [];
  const freed: ScopeClaimRow[] = [];
  // Before their rows: everybody takes this lock first.
  await context.tx.scopes.alone(context.workspaceId);
  for (const chosen of await chosenBy(context, input)) {
    if (!("row" in chosen)) items.push(lostItem(chosen));
    else if (chosen.row.task_id !== null) items.push(itemOf(chosen.row, "kept", WITH_TASK, context));
    else if (chosen.row.nested > 1 && input.all !== true) {
      const nested = chosen.row.nested - 1;
      await keepScope(context, chosen.row, { nested });
      items.push(itemOf(chosen.row, "kept", `claimed ${nested} more ${nested === 1 ? "time" : "times"}`, context));
    } else {
      freed.push(chosen.row);
      items.push({ ...itemOf(chosen.row, "released", null, context), expires_at: null, remaining_ms: null });
    }
  }
  await endScopes(context, freed, "released");
  return { body: { released: freed.length, items } };
};

/** The session's claims that are meant: by their ids, by their names, or all that it claimed by itself. */
async function chosenBy(context: Context, input: Input<"release_scopes">): Promise<Chosen[]> {
  const ways = [input.claim_ids, input.scopes, input.all === true ? true : undefined];
  if (ways.filter((way) => way !== undefined).length !== 1)
    throw invalidInput("claim_ids", "or scopes or all: true must be given, and only one of them");
  const chosen = input.claim_ids
    ? await byIds(context, input.claim_ids, input.project_id)
    : await ofOwn(context, input);
  return chosen.map((each) => {
    if (!("row" in each) || isProven(each.row, input)) return each;
    return { claimId: each.row.id, scope: each.row.scope, reason: "superseded" };
  });
}

async function ofOwn(context: Context, input: Input<"release_scopes">): Promise<Chosen[]> {
  const held = await ownLive(context);
  if (input.scopes) return byNames(context, input, held);
  const project = input.project_id === undefined ? null : await projectOf(context, input.project_id);
  return held.filter((row) => project === null || row.project_id === project.id).map((row) => ({ row }));
}

/** What the session claimed by itself and holds; what the clock took from it is put on record. */
async function ownLive(context: Context): Promise<ScopeClaimRow[]> {
  if (!context.session) return [];
  const rows = await context.tx.scopes.ofSession(context.session.id);
  await lapseScopes(
    context.tx,
    rows.filter((row) => !isClaimLive(row, context.nowMs)),
  );
  return rows.filter((row) => isClaimLive(row, context.nowMs));
}

async function byIds(context: Context, ids: readonly string[], named: string | undefined): Promise<Chosen[]> {
  const project = named === undefined ? null : await projectOf(context, named);
  const rows = new Map((await context.tx.scopes.byIds(context.workspaceId, ids)).map((row) => [row.id, row]));
  const chosen: Chosen[] = [];
  for (const id of new Set(ids)) {
    const row = rows.get(id);
    const mine = row?.holder_session === context.session?.id && (project === null || row?.project_id === project.id);
    if (!row || !mine) chosen.push({ claimId: id, scope: null, reason: "never_held" });
    else chosen.push(isClaimLive(row, context.nowMs) ? { row } : await lost(context, row));
  }
  return chosen;
}

/** How a claim of the session's ended; one of which a part was kept is held as that. */
async function lost(context: Context, row: ScopeClaimRow): Promise<Lost> {
  const { id: claimId, scope } = row;
  const now = row.ended_how === "released" ? await narrowedTo(context, claimId) : undefined;
  return { claimId, scope, ...(now ? { reason: "narrowed", now } : { reason: row.ended_how ?? "expired" }) };
}

async function byNames(
  context: Context,
  input: Input<"release_scopes">,
  held: readonly ScopeClaimRow[],
): Promise<Chosen[]> {
  const project = await projectOf(context, input.project_id);
  const chosen: Chosen[] = [];
  const seen = new Set<string>();
  for (const text of input.scopes ?? []) {
    const scope = scopeOf(context, text, project);
    if (seen.has(scope.key)) continue;
    seen.add(scope.key);
    const namespace = namespaceOf(context, scope, project);
    const isNamed = (each: ScopeClaimRow) => each.namespace === namespace && each.key === scope.key;
    // Told that it never held what its task brought along, a holder would stop working on it.
    const row = held.find(isNamed) ?? (await ofOwnTasks(context)).find(isNamed);
    const ended =
      row || !context.session ? undefined : await context.tx.scopes.lastEnded(context.session.id, namespace, scope.key);
    const none = { claimId: null, scope: scope.text, reason: "never_held" };
    chosen.push(row ? { row } : ended ? { ...(await lost(context, ended)), scope: scope.text } : none);
  }
  return chosen;
}

/** What came with the session's tasks. */
async function ofOwnTasks({ tx, session, nowMs }: Context): Promise<ScopeClaimRow[]> {
  const held = session ? await tx.scopes.heldBySessions([session.id]) : [];
  return held.filter((row) => row.task_id !== null && isClaimLive(row, nowMs));
}

function lostItem({ claimId, scope, reason, now }: Lost): Item {
  const parts = now ? { now: [...now] } : {};
  return { claim_id: claimId, scope, outcome: "lost", reason, expires_at: null, remaining_ms: null, ...parts };
}

function itemOf(row: ScopeClaimRow, outcome: Item["outcome"], reason: string | null, { nowMs }: Context): Item {
  const endMs = scopeEndMs(row);
  const left = { expires_at: iso(endMs), remaining_ms: endMs - nowMs };
  return { claim_id: row.id, scope: row.scope, outcome, reason, ...left };
}
