import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { CONTEXT_MAX, CONTEXT_TOO_LARGE, CONTEXT_VERSIONS_KEPT } from "../../contract/task.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { holds } from "../leases/leases.js";
import { refuseLost } from "../leases/stale-writes.js";
import type { NamedVersion } from "../port/context-verbs.js";
import { type TaskRow, withChange } from "../port/rows.js";
import { quoted } from "../quoted.js";
import { recordUpdate } from "./assignments.js";
import { contextChange, contextOf, contextVersionOf, firstVersion, keepVersion, merged } from "./context-versions.js";
import { iso } from "./task-view.js";
import { mayChange, taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/**
 * As any change of the task (R19, R46): while it is held its holder's alone, who works from it. Comments are how others
 * speak to the holder.
 */
export const change_task_context: Handler<Input<"change_task_context">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const named = input.lease_id !== undefined || input.fence !== undefined;
  if (named && !holds(context, row, input)) return refuseLost(context, row, input);
  await mayChange(context, row);
  requireVersion(row, context.ifVersion);
  requireVersion(row, input.expected_version);
  const next = input.replace ? input.context : merged(contextOf(row.context), input.context);
  if (JSON.stringify(next).length > CONTEXT_MAX) throw invalidInput("context", CONTEXT_TOO_LARGE);
  const changes = contextChange(row, next);
  if (changes.context === undefined) return { body: await present(context, row) };
  const change = { ...changes, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  await recordUpdate(context, row, after, ["context"], await keepVersion(context, row, after));
  return { body: await present(context, after) };
};

function requireVersion(row: TaskRow, wanted: number | undefined): void {
  const version = contextVersionOf(row);
  if (wanted === undefined || wanted === version) return;
  throw new DibsError(
    "version_mismatch",
    `The context of ${quoted(row)} is at version ${version}; read it again (get_task_context) and repeat.`,
    { version },
  );
}

export const get_task_context: Handler<Input<"get_task_context">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const now = contextVersionOf(row);
  if (input.version === undefined || input.version === now) return { body: await present(context, row) };
  const kept = await context.tx.contexts.version(row.seq, input.version);
  if (kept) return { body: view(row, kept) };
  const gone = input.version < now ? "is kept no more" : "is not there yet";
  throw new DibsError(
    "not_found",
    `Version ${input.version} of the context of ${quoted(row)} ${gone}: it is at ${now}, and the last ${CONTEXT_VERSIONS_KEPT} are kept; see list_context_versions.`,
    {},
  );
};

/** The context as it is, with who wrote it. */
async function present(context: Context, row: TaskRow) {
  const version = contextVersionOf(row);
  if (version === 0) return view(row, null);
  return view(
    row,
    (await context.tx.contexts.version(row.seq, version)) ?? (await namedFirst(context, row)),
    row.context,
  );
}

async function namedFirst(context: Context, row: TaskRow): Promise<NamedVersion> {
  const creator = await context.tx.agents.byAnyId(row.created_by);
  return { ...firstVersion(row), agent_name: creator?.name ?? row.created_by };
}

function view(row: TaskRow, kept: NamedVersion | null, context = kept?.context ?? null) {
  return { task_id: row.id, context: contextOf(context), ...writtenBy(kept), version: kept?.version ?? 0 };
}

function writtenBy(kept: Omit<NamedVersion, "context"> | null) {
  const { agent_id = null, agent_name = null, session_id = null } = kept ?? {};
  return { agent_id, agent_name, session_id, created_at: kept ? iso(kept.created_at) : null };
}

export const list_context_versions: Handler<Input<"list_context_versions">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const page = pageOf("context", input);
  const stored = await context.tx.contexts.list(row.seq, page);
  const first = stored.length === 0 && page.after === null && contextVersionOf(row) === 1;
  const rows = first ? [await namedFirst(context, row)] : stored;
  const body = rows.map((kept) => ({ version: kept.version, changed: JSON.parse(kept.changed), ...writtenBy(kept) }));
  return { body, ...cursorAfter("context", rows, page, (kept) => [kept.version]) };
};
