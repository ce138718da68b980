import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import { grouped } from "../grouped.js";
import type { WaitRow } from "../port/wait-rows.js";
import { type Conflict, endOwn, type Looking } from "../scopes/scope-conflicts.js";
import type { Wanted } from "../scopes/scope-names.js";
import { withoutFreePlaces } from "../scopes/scope-places.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { ahead, inTheWayOf } from "./in-line.js";
import { isKept, withKept } from "./kept-waiters.js";
import { isBefore, isOffered } from "./line-order.js";
import {
  asHolder,
  heldInTheWay,
  type InLine,
  type LineRequest,
  requestOf,
  ticketsNear,
  waitedName,
  waitingOf,
} from "./line-tickets.js";
import { lookingOnce } from "./looking-once.js";
import { waitsForEver } from "./played-out.js";
import { type Edge, mayWaitFor, wayTo } from "./wait-graph.js";
import { NOT_OFFERED } from "./waits.js";

/**
 * The refusal to wait for somebody who, over however many others, waits for the asker (R37); null where its turn will come.
 * Of two halves that are written at once the later one sees the earlier: lines of a workspace are entered one after another.
 * Holds are left out: each has an end, and who is frozen until then is before others again.
 */
export async function deadlockOf(
  context: Context,
  asker: InLine,
  wanted: readonly Wanted[],
): Promise<DibsError<"would_deadlock"> | null> {
  const { session } = asker;
  if (session === null) return null;
  const looking = withKept(lookingOnce(context, { frozen: false }));
  const conflicts = await inTheWayOf(looking, wanted, asker);
  // Of a line of sixty behind the asker it costs 0.2 s to find all: not where those that it would wait for wait for nobody.
  const holders = new Set(conflicts.map(({ holder }) => holder.holder_session));
  if (!holders.has(session.id) && (await waitingOf(looking, [...holders])).length === 0) return null;
  const behind = await behindIt(context, looking, { wanted, asker }, conflicts);
  const waiting = new Set(await mayWaitFor(looking, session.id));
  for (const other of behind.sessions)
    for (const each of [other, ...(await mayWaitFor(looking, other))]) waiting.add(each);
  // Who has one of several places keeps nobody waiting while another is free, be it in the way of the asker's own.
  const edgesOf = async (wait: WaitRow) => {
    const request = requestOf(wait);
    return withoutFreePlaces(looking, [
      ...(await heldInTheWay(looking, [request])),
      ...(await ahead(looking, request.wanted, request.asker)),
      ...behind.edgesOf(wait, request.wanted),
    ]);
  };
  const search = { looking, sessionId: session.id, waiting, deadEnds: new Set<string>(), edgesOf };
  for (const conflict of conflicts) {
    // For another task of its own, as two tasks' names conflict within one session too (R16), it would wait for itself.
    const own = conflict.holder.holder_session === session.id;
    const way = own ? [] : await wayTo(search, conflict.holder.holder_session);
    if (!way) continue;
    const forEver = await waitsForEver(looking, asTicket(context, asker, wanted), waiting);
    return forEver ? wouldDeadlock(context, session.id, conflict, way) : null;
  }
  return null;
}

/** The ticket that the asker would get: the last of its rank. */
function asTicket({ nowMs, workspaceId }: Context, asker: InLine, wanted: readonly Wanted[]): WaitRow {
  const { session, taskId, rank } = asker;
  return {
    seq: Number.MAX_SAFE_INTEGER,
    workspace_id: workspaceId,
    session_id: session?.id ?? null,
    shared_by: session?.shared_by ?? null,
    task_id: taskId,
    wanted: JSON.stringify(wanted.map(waitedName)),
    asked_at: nowMs,
    rank,
    until: null,
    ...NOT_OFFERED,
    ...NOBODYS,
  };
}

/** What is only shown of a ticket. */
const NOBODYS = {
  ...{ id: "", project_id: "", mark: "", intent: "", lease_seconds: null, priority: 0, task_lease: null },
  ...{ agent_id: null, agent_name: null, implicit: null, client: null, branch: null },
};

/** Of what such a ticket wants that for which it would wait for the asker. */
type EdgesBehind = (wait: WaitRow, wanted: readonly Wanted[]) => Conflict[];

/**
 * Tickets that would wait for the asker as it gets into line before them, over more than its own place in line: those of
 * sessions that the asker itself waits for will pass it (in-line.ts).
 */
async function behindIt(
  { agent, nowMs }: Context,
  looking: Looking,
  { wanted, asker }: LineRequest,
  conflicts: readonly Conflict[],
): Promise<{ readonly edgesOf: EdgesBehind; readonly sessions: ReadonlySet<string> }> {
  const passing = new Set(conflicts.map(({ holder }) => holder.holder_session));
  const own = {
    ...NOBODY,
    claimed_at: nowMs,
    holder_agent: agent.id,
    agent_name: agent.name,
    holder_session: asker.session?.id ?? "",
  };
  const met = (await ticketsNear(looking, [{ wanted, asker }])).filter(
    ({ wait }) => !isBefore(wait, asker) && !isOffered(wait, nowMs) && !passing.has(wait.session_id ?? ""),
  );
  const bySeq = grouped(met, ({ wait }) => wait.seq);
  const edgesOf: EdgesBehind = ({ seq }, theirs) =>
    (bySeq.get(seq) ?? []).flatMap(({ wanted: { scope, mode }, wait, name }) => {
      const waitsFor = theirs.find((each) => each.scope.key === name.key && each.namespace === name.namespace);
      const taken = { ...name, scope: scope.text, key: scope.key, mode };
      return waitsFor ? [{ wanted: waitsFor, holder: { ...asHolder(wait, taken, nowMs), ...own } }] : [];
    });
  return { edgesOf, sessions: new Set(met.flatMap(({ wait }) => wait.session_id ?? [])) };
}

/** The asker has no ticket yet that could be shown. */
const NOBODY = { id: "", task_id: null, intent: "", implicit: 0, client: null, branch: null };

function wouldDeadlock(
  context: Context,
  waiter: string,
  first: Conflict,
  way: readonly Edge[],
): DibsError<"would_deadlock"> {
  const { agent } = context;
  const asked = { ticket: null, agent_id: agent.id, agent_name: agent.name, session_id: waiter, intent: "" };
  const steps = [
    { who: asked, conflict: first },
    ...way.map(({ wait, conflict }) => ({
      who: { ...wait, ticket: isKept(wait.session_id) ? null : wait.id },
      conflict,
    })),
  ];
  const cycle = steps.map(({ who, conflict: { wanted, holder } }) => ({
    agent_id: who.agent_id ?? "",
    agent_name: who.agent_name ?? "",
    session_id: sessionShown(who.session_id),
    ticket: who.ticket,
    waits_for: wanted.scope.text,
    holder: scopeClaimView({ ...holder, holder_session: sessionShown(holder.holder_session) }, context.nowMs),
  }));
  const told = steps.map(({ who, conflict: { wanted, holder } }) => {
    const has = holder.fence === 0 ? "is before it in line for" : "holds";
    return `${nameOf(who)} would wait for ${wanted.scope.text}, as ${nameOf(holder)} ${has} ${holder.scope}`;
  });
  return new DibsError("would_deadlock", `To wait would be a deadlock: ${told.join("; ")}.`, {
    cycle,
    next: [
      ...(first.holder.holder_session === waiter
        ? [endOwn(first.holder)]
        : [
            "Release what you hold of it, then claim all that you need in one call: release_scopes, claim_scopes.",
            "Ask a holder to yield: request_yield.",
          ]),
      "Work on something else: claim_next_task.",
    ],
  });
}

/** What is kept for a task is nobody's, and has no session. */
const sessionShown = (id: string | null) => (id === null || isKept(id) ? "" : id);

const nameOf = ({ agent_name, intent }: { readonly agent_name: string | null; readonly intent: string }) =>
  agent_name || `what is kept for task "${intent}"`;
