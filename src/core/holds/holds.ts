import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record, recordBy } from "../events.js";
import { newId } from "../ids.js";
import { agentOf } from "../named.js";
import { behindHold, type HoldRow, type StoredHold } from "../port/hold-rows.js";
import type { ProjectRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { requireReason } from "../required-reason.js";
import { namespaceOf, scopeOf } from "../scopes/scope-names.js";
import { iso } from "../tasks/task-view.js";
import { freezeLine, thawLine } from "./frozen-line.js";
import { holdView } from "./hold-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Every claim looks at all that are live in its workspace. */
const HOLDS_MAX = 1_000;
const LONGEST_MS = 31_622_400_000;

/** New claims are refused from now on; who holds something already goes on (R41). */
export const place_hold: Handler<Input<"place_hold">> = async (context, input) => {
  const { reason } = input;
  requireReason(reason);
  const project = await projectOf(context, input.project_id);
  const frozen = frozenPart(context, input, project);
  const expiresAtMs = endOf(context, input);
  const allowed = [...new Set(input.allow_agent_ids ?? [])];
  for (const id of allowed) await agentOf(context, id);
  if ((await context.holds()).length >= HOLDS_MAX)
    throw new DibsError("limit_exceeded", `There are ${HOLDS_MAX} holds already; lift some: lift_hold.`, {
      setting: "holds",
      limit: HOLDS_MAX,
    });
  const row: Omit<StoredHold, "seq"> = {
    ...frozen,
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    reason,
    allow: JSON.stringify(allowed),
    placed_by: context.agent.id,
    placed_at: context.nowMs,
    expires_at: expiresAtMs,
    ended_at: null,
    ended_how: null,
  };
  await context.tx.holds.insert(row);
  await freezeLine(context, row);
  await record(
    context,
    "hold.placed",
    { project_id: project.id },
    said(row, { reason, expires_at: iso(expiresAtMs), allow_agent_ids: allowed }),
  );
  return { body: holdView({ ...row, seq: 0, agent_name: context.agent.name }, context.nowMs) };
};

function frozenPart(
  context: Context,
  { scope, project: whole }: Input<"place_hold">,
  project: ProjectRow,
): Pick<StoredHold, "namespace" | "scope" | "key"> {
  if ((scope === undefined) === (whole !== true))
    throw invalidInput("scope", "or project: true must be given, and only one of them");
  if (scope === undefined) return { namespace: null, scope: null, key: null };
  const read = scopeOf(context, scope, project);
  return { namespace: namespaceOf(context, read, project), scope: read.text, key: read.key };
}

/** When it ends, ms: a hold without an end would be one that is forgotten. */
function endOf({ nowMs }: Context, { expires_at, ttl_seconds }: Input<"place_hold">): number {
  if ((expires_at === undefined) === (ttl_seconds === undefined))
    throw invalidInput("expires_at", "or ttl_seconds must be given, and only one of them");
  if (ttl_seconds !== undefined) return nowMs + ttl_seconds * 1000;
  const at = Date.parse(expires_at as string);
  if (at <= nowMs || at > nowMs + LONGEST_MS) throw invalidInput("expires_at", "must be ahead, by at most 366 days");
  return at;
}

/** What an event of it is about; ids of projects stand beside. */
function said({ id: hold_id, scope }: Pick<StoredHold, "id" | "scope">, data: object): object {
  return { hold_id, ...(scope === null ? { project: true } : { scope }), ...data };
}

export const list_holds: Handler<Input<"list_holds">> = async (context, input) => {
  const page = pageOf("holds", input);
  const projectId = input.project_id === undefined ? null : (await projectOf(context, input.project_id)).id;
  const filter = { projectId, ended: input.ended === true, nowMs: context.nowMs };
  const rows = await context.tx.holds.list(context.workspaceId, filter, page);
  const body = rows.map((row) => holdView(row, context.nowMs));
  return { body, ...cursorAfter("holds", rows, page, (row) => [row.seq]) };
};

/** Each is lifted by its own id; others on the same scope stay. */
export const lift_hold: Handler<Input<"lift_hold">> = async (context, input) => {
  const row = await context.tx.holds.byId(context.workspaceId, input.hold_id);
  if (!row)
    throw new DibsError("not_found", `There is no hold ${input.hold_id}; see GET /v1/holds (dibs hold list).`, {});
  if (!(await ended(context.tx, row, context.nowMs, "lifted"))) return { body: holdView(row, context.nowMs) };
  const { reason } = input;
  await record(
    context,
    "hold.lifted",
    { project_id: row.project_id },
    said(row, reason === undefined ? {} : { reason }),
  );
  context.woke();
  return { body: holdView({ ...row, ended_at: context.nowMs, ended_how: "lifted" }, context.nowMs) };
};

/** The end of a hold, and of the sleep of what it froze; who waits in line may have it. False where it had ended. */
async function ended(tx: Tx, row: HoldRow, at: number, how: "lifted" | "expired"): Promise<boolean> {
  if (row.ended_at !== null || !(await tx.holds.end(row.seq, at, how))) return false;
  await tx.scopes.unpark([behindHold(row)]);
  await thawLine(tx, row);
  return true;
}

/** Records holds that the clock ended, once each (R12); how many. Nothing that a reader could see changes. */
export async function lapseHolds(tx: Tx, limit: number): Promise<number> {
  const due = await tx.holds.due(tx.nowMs, limit);
  for (const row of due) {
    if (!(await ended(tx, row, row.expires_at, "expired"))) continue;
    const data = said(row, { reason: row.reason, expired_at: iso(row.expires_at) });
    await recordBy(tx, null, "hold.expired", row, data);
  }
  return due.length;
}
