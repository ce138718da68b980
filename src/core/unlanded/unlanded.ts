import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler, Reply } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { newId } from "../ids.js";
import { requireNamed } from "../named.js";
import type {
  StoredUnlanded,
  UnlandedChange,
  UnlandedEnd,
  UnlandedFilter,
  UnlandedRow,
} from "../port/unlanded-rows.js";
import { indexKey } from "../scopes/scope-keys.js";
import { namespaceOf, scopeOf, type Wanted, wantedOf } from "../scopes/scope-names.js";
import { overlappingUnlanded } from "./unlanded-beside.js";
import { dropOffer } from "./unlanded-offers.js";
import { hasEnded, unlandedView } from "./unlanded-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

const LASTS_MS = 14 * 86_400_000;

/** The unlanded work, or 404; another workspace's answers like an unknown one (R47). */
export async function unlandedOf(context: Context, id: string): Promise<UnlandedRow> {
  const row = await context.tx.unlanded.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no unlanded work ${id}; see GET /v1/unlanded (dibs unlanded list).`, {});
}

/** An event about it. */
export function tell(
  context: Context,
  type: string,
  { id, project_id, branch }: Pick<StoredUnlanded, "id" | "project_id" | "branch">,
  data: object,
): Promise<void> {
  return record(context, type, { project_id }, { unlanded_id: id, branch, ...data });
}

/** Writes the change; the answer is the record as it is then. */
export async function changed(context: Context, row: UnlandedRow, change: UnlandedChange): Promise<Reply> {
  await context.tx.unlanded.change(row.seq, change);
  const after = { ...row, ...change };
  // Whoever becomes its steward does so by a call of its own.
  const steward = after.agent_id === row.agent_id ? {} : { agent_name: context.agent.name, agent_deleted: 0 };
  return { body: unlandedView({ ...after, ...steward }, context.nowMs) };
}

/** The same of its end. Whoever was asked to look after it is asked no more. */
export async function ended(context: Context, row: UnlandedRow, how: UnlandedEnd): Promise<Reply> {
  await dropOffer(context, row);
  await context.tx.unlanded.end(row.seq, context.nowMs, how);
  const after = { ...row, ended_at: context.nowMs, ended_how: how, offered_to: null };
  return { body: unlandedView(after, context.nowMs) };
}

/**
 * Declared again, it is about these scopes, for another 14 days; its hops stay what they are (R42). What has ended, or whose
 * steward was deleted, is looked after by who declares it.
 */
export const declare_unlanded: Handler<Input<"declare_unlanded">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const wanted = wantedOf(context, input.scopes, project, "shared");
  const scopes = wanted.map(({ scope }) => scope.text);
  const before = await context.tx.unlanded.ofBranch(project.id, input.branch);
  const kept = before && !hasEnded(before, context.nowMs) && before.agent_deleted === 0;
  if (kept && before.agent_id !== context.agent.id)
    throw new DibsError(
      "already_exists",
      `${before.agent_name} looks after ${input.branch} (${before.id}); it can hand it over to you: transfer_unlanded.`,
      {},
    );
  const said = {
    scopes: JSON.stringify(scopes),
    intent: input.intent ?? null,
    agent_id: context.agent.id,
    session_id: context.session?.id ?? null,
    declared_at: context.nowMs,
    expires_at: context.nowMs + LASTS_MS,
    ended_at: null,
    ended_how: null,
  };
  const { intent } = said;
  if (before) {
    if (!kept) await dropOffer(context, before);
    const reply = await changed(context, before, { ...said, offered_to: kept ? before.offered_to : null });
    await putScopes(context, before.seq, wanted);
    await tell(context, "unlanded.declared", before, { scopes, intent, again: true });
    return reply;
  }
  const row = {
    ...said,
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    branch: input.branch,
    hops: 0,
    offered_to: null,
  };
  const seq = await context.tx.unlanded.insert(row);
  await putScopes(context, seq, wanted);
  await tell(context, "unlanded.declared", row, { scopes, intent });
  return { body: unlandedView({ ...row, seq, agent_name: context.agent.name, agent_deleted: 0 }, context.nowMs) };
};

async function putScopes(context: Context, seq: number, wanted: readonly Wanted[]): Promise<void> {
  const rows = wanted.map(({ scope, namespace }, place) => {
    return { unlanded_seq: seq, place, namespace, key: scope.key, index_key: indexKey(scope.key) };
  });
  await context.tx.unlanded.putScopes(seq, rows);
}

export const list_unlanded: Handler<Input<"list_unlanded">> = async (context, input) => {
  const page = pageOf("unlanded", input);
  await requireNamed(context, { agent_id: input.agent_id });
  const named = input.project_id !== undefined || input.scope !== undefined;
  const project = named ? await projectOf(context, input.project_id) : null;
  const filter: UnlandedFilter = {
    ...(input.project_id !== undefined && project ? { projectId: project.id } : {}),
    ...(input.branch === undefined ? {} : { branch: input.branch }),
    ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
    ...(input.scope !== undefined && project ? { seqs: await seqsNear(context, input, project) } : {}),
    ended: input.ended === true,
    nowMs: context.nowMs,
  };
  const rows = await context.tx.unlanded.list(context.workspaceId, filter, page);
  const body = rows.map((row) => unlandedView(row, context.nowMs));
  return { body, ...cursorAfter("unlanded", rows, page, (row) => [row.seq]) };
};

async function seqsNear(
  context: Context,
  { scope: text, ended }: Input<"list_unlanded">,
  project: Awaited<ReturnType<typeof projectOf>>,
): Promise<number[]> {
  if (ended) throw invalidInput("scope", "finds what hasn't ended: leave out ended");
  const scope = scopeOf(context, text ?? "", project);
  const name = { namespace: namespaceOf(context, scope, project), key: scope.key };
  return (await overlappingUnlanded(context, [name])).map(({ seq }) => seq);
}
