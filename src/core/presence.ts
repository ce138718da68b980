import type { z } from "zod";
import type { Operations } from "../contract/operations.js";
import type { Context, Handler } from "./context.js";
import { cursorAfter, pageOf } from "./cursor.js";
import { grouped } from "./grouped.js";
import { NO_HEADS } from "./heads.js";
import { waitingOf } from "./line-tickets.js";
import { requireNamed, sessionOf } from "./named.js";
import { projectOf } from "./projects.js";
import type { SessionRow, TaskRow } from "./rows.js";
import { isLive } from "./scope-conflicts.js";
import { scopeClaimView } from "./scope-view.js";
import { isLive as isOpen } from "./session-life.js";
import { taskState } from "./task-state.js";
import { iso, sessionView, taskView } from "./task-view.js";
import { waitView } from "./waits.js";

type Input = z.output<Operations["get_presence"]["input"]>;

/** The open sessions with what each holds and waits for: read for all of them together. */
export const get_presence: Handler<Input> = async (context, input) => {
  await requireNamed(context, { agent_id: input.agent_id });
  const page = pageOf("presence", input);
  const project = input.project_id === undefined ? undefined : (await projectOf(context, input.project_id)).id;
  const filter = { state: "open", agentId: input.agent_id, projectId: project, nowMs: context.nowMs } as const;
  const rows =
    input.session_id === undefined
      ? await context.tx.sessions.list(context.workspaceId, filter, page)
      : [await sessionOf(context, input.session_id)].filter((row) => isOpen(row, context.nowMs));
  const ids = rows.map(({ id }) => id);
  const [held, claims, waits] = await Promise.all([
    Promise.all(rows.map((row) => context.tx.tasks.heldBySession(row.agent_id, row.id))),
    ids.length === 0 ? [] : context.tx.scopes.heldBySessions(ids),
    waitingOf(context, ids),
  ]);
  const claimsOf = grouped(
    claims.filter((claim) => isLive(claim, context.nowMs)),
    (claim) => claim.holder_session,
  );
  const waitsOf = grouped(waits, (wait) => wait.session_id ?? "");
  const body = await Promise.all(
    rows.map(async (row, at) => ({
      ...seen(
        row,
        (held[at] ?? []).filter((task) => taskState(task, context.nowMs).held),
        context,
      ),
      claims: (claimsOf.get(row.id) ?? []).map((claim) => scopeClaimView(claim, context.nowMs)),
      waits: await Promise.all((waitsOf.get(row.id) ?? []).map((wait) => waitView(context, wait))),
    })),
  );
  return { body, ...cursorAfter("presence", rows, page, (row) => [row.seq]) };
};

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
