import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { grouped } from "../grouped.js";
import { holdView } from "../holds/hold-view.js";
import { waitingOf } from "../line/line-tickets.js";
import { lookingOnce } from "../line/looking-once.js";
import { waitView } from "../line/waits.js";
import { requireNamed, sessionOf } from "../named.js";
import type { SessionRow, TaskRow } from "../port/rows.js";
import type { UnlandedFilter } from "../port/unlanded-rows.js";
import type { Page } from "../port/verbs.js";
import { isClaimLive } from "../scopes/scope-conflicts.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { NO_HEADS } from "../tasks/heads.js";
import { taskState } from "../tasks/task-state.js";
import { iso, sessionView, taskView } from "../tasks/task-view.js";
import { unlandedView } from "../unlanded/unlanded-view.js";
import { projectOf } from "./projects.js";
import { isSessionLive } from "./session-life.js";

type Input = z.output<Operations["get_presence"]["input"]>;

export const get_presence: Handler<Input> = async (context, input) => {
  await requireNamed(context, { agent_id: input.agent_id });
  const project = input.project_id === undefined ? null : (await projectOf(context, input.project_id)).id;
  const page = { limit: input.limit + 1, after: null };
  const found = await sessionsOf(context, input, project, page);
  const rows = found.slice(0, input.limit);
  const holds = { projectId: project, ended: false, nowMs: context.nowMs };
  const [frozen, unlanded] = await Promise.all([
    context.tx.holds.list(context.workspaceId, holds, { ...page, limit: input.limit }),
    context.tx.unlanded.list(context.workspaceId, unlandedFilter(context, input, project), {
      ...page,
      limit: input.limit,
    }),
  ]);
  const body = {
    sessions: await present(context, rows),
    more: found.length > rows.length,
    holds: frozen.map((row) => holdView(row, context.nowMs)),
    unlanded: unlanded.map((row) => unlandedView(row, context.nowMs)),
  };
  return { body };
};

async function sessionsOf(context: Context, input: Input, project: string | null, page: Page): Promise<SessionRow[]> {
  if (input.session_id !== undefined)
    return [await sessionOf(context, input.session_id)].filter((row) => isSessionLive(row, context.nowMs));
  const narrowed = { agentId: input.agent_id, projectId: project ?? undefined, nowMs: context.nowMs };
  return context.tx.sessions.list(context.workspaceId, { state: "open", ...narrowed }, page);
}

function unlandedFilter({ nowMs }: Context, { agent_id }: Input, project: string | null): UnlandedFilter {
  return {
    ...(project === null ? {} : { projectId: project }),
    ...(agent_id === undefined ? {} : { agentId: agent_id }),
    ended: false,
    nowMs,
  };
}

/** Sessions with what each holds and waits for, read for all of them together. */
async function present(context: Context, rows: readonly SessionRow[]) {
  const ids = rows.map(({ id }) => id);
  const [held, claims, waits] = await Promise.all([
    Promise.all(rows.map((row) => context.tx.tasks.heldBySession(row.agent_id, row.id))),
    ids.length === 0 ? [] : context.tx.scopes.heldBySessions(ids),
    waitingOf(context, ids),
  ]);
  const claimsOf = grouped(
    claims.filter((claim) => isClaimLive(claim, context.nowMs)),
    (claim) => claim.holder_session,
  );
  const looking = lookingOnce(context);
  const waitsOf = grouped(waits, (wait) => wait.session_id ?? "");
  return Promise.all(
    rows.map(async (row, at) => ({
      ...seen(
        row,
        (held[at] ?? []).filter((task) => taskState(task, context.nowMs).held),
        context,
      ),
      claims: (claimsOf.get(row.id) ?? []).map((claim) => scopeClaimView(claim, context.nowMs)),
      waits: await Promise.all((waitsOf.get(row.id) ?? []).map((wait) => waitView(looking, wait))),
    })),
  );
}

function seen(row: SessionRow, tasks: readonly TaskRow[], { nowMs }: Context) {
  return {
    ...sessionView(row, tasks.length, nowMs),
    seen_at: iso(row.seen_at),
    tasks: tasks.map((task) => {
      const { id, content, state, state_detail, progress, lease_expires_at, lease_remaining_ms } = taskView(
        task,
        nowMs,
        [],
        NO_HEADS,
        false,
      );
      return { id, content, state, state_detail, progress, lease_expires_at, lease_remaining_ms };
    }),
  };
}
