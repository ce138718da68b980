import { DibsError } from "../contract/errors.js";
import type { Context } from "./context.js";
import { ahead } from "./in-line.js";
import { askerOf, hardInTheWay, type InLine, wantedBy } from "./line-tickets.js";
import { lookingOnce } from "./looking-once.js";
import type { Conflict } from "./scope-conflicts.js";
import { scopeClaimView } from "./scope-view.js";
import { type Edge, mayWaitFor, wayTo } from "./wait-graph.js";
import type { WaitRow } from "./wait-rows.js";

/**
 * Refuses to wait for somebody who, over however many others, waits for the asker (R37). Of two halves that are written at
 * once the later one sees the earlier: lines of a workspace are entered one after another.
 */
export async function refuseDeadlock(context: Context, asker: InLine, conflicts: readonly Conflict[]): Promise<void> {
  const { session } = asker;
  if (session === null) return;
  const looking = lookingOnce(context);
  const waiting = await mayWaitFor(looking, session.id);
  const edgesOf = async (wait: WaitRow) => [
    ...(await hardInTheWay(looking, wantedBy(wait), askerOf(wait))),
    ...(await ahead(looking, wantedBy(wait), askerOf(wait))),
  ];
  const search = { looking, sessionId: session.id, waiting, deadEnds: new Set<string>(), edgesOf };
  for (const conflict of conflicts) {
    const way = await wayTo(search, conflict.holder.holder_session);
    if (way) throw wouldDeadlock(context, conflict, way);
  }
}

function wouldDeadlock(context: Context, first: Conflict, way: readonly Edge[]): DibsError<"would_deadlock"> {
  const step = (conflict: Conflict, who: { id: string; name: string; session: string; ticket: string | null }) => ({
    agent_id: who.id,
    agent_name: who.name,
    session_id: who.session,
    ticket: who.ticket,
    waits_for: conflict.wanted.scope.text,
    holder: scopeClaimView(conflict.holder, context.nowMs),
  });
  const { agent, session } = context;
  const cycle = [
    step(first, { id: agent.id, name: agent.name, session: session?.id ?? "", ticket: null }),
    ...way.map(({ wait, conflict }) =>
      step(conflict, {
        id: wait.agent_id ?? "",
        name: wait.agent_name ?? "",
        session: wait.session_id ?? "",
        ticket: wait.id,
      }),
    ),
  ];
  const told = cycle.map(({ agent_name, waits_for, holder }) => {
    const has = holder.fence === 0 ? "is before it in line for" : "holds";
    return `${agent_name} would wait for ${waits_for}, as ${holder.agent_name} ${has} ${holder.scope}`;
  });
  return new DibsError("would_deadlock", `To wait would be a deadlock: ${told.join("; ")}.`, {
    cycle,
    next: [
      "Release what you hold of it, then claim all that you need in one call: release_scopes, claim_scopes.",
      "Ask a holder to yield: request_yield.",
      "Work on something else: claim_next_task.",
    ],
  });
}
