import type { EventRow } from "./event-tail.js";
import { shortId } from "./short-id.js";

type Tone = "calm" | "late" | "hot" | "far" | "faint";

/** Verbs for the log; a type that isn't here is shown by its name, so that none is ever hidden. */
const WORDS: Readonly<Record<string, readonly [verb: string, tone: Tone]>> = {
  "task.created": ["added", "faint"],
  "task.updated": ["changed", "faint"],
  "task.deleted": ["deleted", "faint"],
  "task.claimed": ["claimed", "calm"],
  "task.released": ["released", "faint"],
  "task.completed": ["completed", "calm"],
  "task.failed": ["failed at", "hot"],
  "task.cancelled": ["cancelled", "late"],
  "task.cancel_requested": ["asked to cancel", "late"],
  "task.reopened": ["reopened", "far"],
  "task.ready": ["made ready", "calm"],
  "task.blocked": ["held up", "late"],
  "task.stalled": ["stalled", "hot"],
  "task.assigned": ["assigned", "faint"],
  "task.delegated": ["delegated a part of", "far"],
  "task.commented": ["commented on", "faint"],
  "task.linked": ["linked", "faint"],
  "task.state_changed": ["says how it goes with", "far"],
  "task.retried": ["gave a new try to", "far"],
  "task.judged": ["judged", "far"],
  "task.evidence_added": ["added evidence to", "faint"],
  "branch.moved": ["moved the branch", "faint"],
  "task.handoff_offered": ["offers to hand over", "far"],
  "task.handoff_declined": ["declined a handoff of", "faint"],
  "task.handoff_expired": ["nobody accepted", "late"],
  "task.handed_off": ["took over, as offered,", "calm"],
  "scope.handoff_offered": ["offers to hand over", "far"],
  "scope.handoff_declined": ["declined a handoff of", "faint"],
  "scope.handoff_expired": ["nobody accepted", "late"],
  "scope.handed_off": ["took over, as offered,", "calm"],
  "scope.capacity_changed": ["set how many may hold", "far"],
  "scope.claimed": ["claimed", "calm"],
  "scope.released": ["released", "faint"],
  "scope.refused": ["was refused", "late"],
  "hold.placed": ["froze", "late"],
  "hold.lifted": ["lifted the hold on", "calm"],
  "hold.expired": ["hold ended on", "faint"],
  "unlanded.declared": ["has unlanded work on", "far"],
  "unlanded.offered": ["offers to hand over", "faint"],
  "unlanded.declined": ["leaves to its steward", "faint"],
  "unlanded.transferred": ["took over", "far"],
  "unlanded.landed": ["saw landed", "calm"],
  "unlanded.pruned": ["pruned", "faint"],
  "unlanded.expired": ["nobody landed", "late"],
  "scope.queued": ["waits for", "late"],
  "scope.offered": ["may have", "calm"],
  "scope.offer_withdrawn": ["is offered no more", "late"],
  "scope.offer_expired": ["didn't take", "late"],
  "scope.wait_ended": ["waits no more for", "faint"],
  "scope.overruled": ["gave, before others,", "hot"],
  "scope.yield_requested": ["asks for", "far"],
  "scope.yield_answered": ["answered about", "far"],
  "lease.expired": ["ran out of time on", "late"],
  "plan.created": ["made a plan", "far"],
  "plan.extended": ["added steps to a plan", "far"],
  "recurrence.created": ["set up what recurs,", "far"],
  "recurrence.updated": ["changed what recurs,", "far"],
  "recurrence.skipped": ["passed over a tick of", "faint"],
  "recurrence.deleted": ["ended what recurs,", "far"],
  "session.started": ["opened a session", "faint"],
  "session.resumed": ["resumed its session", "faint"],
  "session.updated": ["wrote down what it found", "far"],
  "session.ended": ["ended its session", "faint"],
  "session.expired": ["session fell silent", "late"],
  "agent.created": ["added an agent", "far"],
  "agent.updated": ["changed an agent", "far"],
  "agent.deleted": ["deleted an agent", "far"],
  "agent.key_rotated": ["changed a key", "far"],
  "store.restored": ["restored the store from a backup", "hot"],
  "stale_write.refused": ["late write refused on", "hot"],
};

/** Events about a branch. */
const BRANCHES = /^(branch|unlanded)\./;

/** What is said where the verdict says more. */
const JUDGED: typeof WORDS = {
  "task.judged pass": ["gave a passing verdict on", "calm"],
  "task.judged fail": ["gave a failing verdict on", "hot"],
  "task.completed pass": ["completed, with a passing verdict,", "calm"],
  "task.completed fail": ["completed, with a failing verdict,", "hot"],
};

/** What an event says in the log: who, did what, to what. */
export interface Sentence {
  readonly actor: string | undefined;
  readonly verb: string;
  readonly tone: Tone;
  readonly object: string | undefined;
}

/** Puts an event into words, with the titles of tasks and the names of agents as far as the page knows them. */
export function sentenceOf(
  event: EventRow,
  titles: ReadonlyMap<string, string>,
  agentNames: ReadonlyMap<string, string> | undefined,
): Sentence {
  const [verb, tone] = JUDGED[`${event.type} ${event.data.verdict}`] ?? WORDS[event.type] ?? [event.type, "faint"];
  const { content, title, name, scope, plan, branch } = event.data;
  const told =
    content ?? title ?? name ?? scope ?? waitedFor(event) ?? plan ?? (BRANCHES.test(event.type) ? branch : undefined);
  const object =
    typeof told === "string"
      ? told
      : event.task_id === null
        ? undefined
        : (titles.get(event.task_id) ?? `task ${shortId(event.task_id)}`);
  // Of a lease that ended by the clock nobody is the actor, but somebody had it; and somebody waited.
  const holder = event.type === "lease.expired" ? event.data.agent_id : event.data.waiter_agent_id;
  const lost = typeof holder === "string" ? (agentNames?.get(holder) ?? shortId(holder)) : undefined;
  return { actor: event.actor?.agent_name ?? lost, verb, tone, object };
}

function waitedFor({ data }: EventRow): string | undefined {
  const { scopes } = data;
  return Array.isArray(scopes)
    ? scopes.map((each) => (each as { scope?: string }).scope ?? each).join(", ")
    : undefined;
}
