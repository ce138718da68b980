import { type Passing, passed, passedWords } from "./passed-over.js";
import { type Row, VIEWS, type View, view } from "./views.js";
import { count, plain, quote, seconds } from "./wording.js";

/** An answer before it is sent: the structured part, and the same in short for clients that show only text. */
export interface Shown {
  readonly data: View;
  readonly says: string;
}

/** How an answer is to be shown: how long agents' texts may be, and what the operation said beside its record. */
export interface Look {
  readonly textLimit: number;
  /** How many rows may be shown, where not all need be. */
  readonly rows?: number;
  readonly nextCursor?: string | undefined;
  /** More rows follow than are shown. */
  readonly more?: boolean;
  /** The answer of the operation asked beside the main one. */
  readonly beside?: Row;
}

export type Show = (body: never, look: Look) => Shown;

const leaseWords = (task: Row) =>
  `lease_id ${task.lease_id}, fence ${task.fence}, ${seconds(task.lease_remaining_ms)} s left`;

/** The one wish of others that a holder must hear whatever it asked. */
const cancelWords = (task: Row) =>
  task.cancel_requested === true
    ? ` It is asked to be cancelled${task.cancel_reason ? ` (${quote(task.cancel_reason)})` : ""}: stop, then release_task.`
    : "";

type Claimed = Passing & { readonly task?: Row | null; readonly unlanded?: readonly Row[] };

export function showClaimed(body: Claimed, look: Look): Shown {
  const task = body.task ?? null;
  if (task === null) {
    const says = `Nothing to claim now. wait_seconds waits for work; list_tasks shows what there is.${passedWords(body)}`;
    return { data: { task: null, ...passed(body, look) }, says };
  }
  const next = "heartbeat_task before it ends, complete_task when done.";
  const { unlanded = [] } = body;
  const says = `Claimed task ${task.id} ${quote(task.content)}: ${leaseWords(task)}. ${next}${cancelWords(task)}${unlandedWords(unlanded)}`;
  return { data: { task: view(task, VIEWS.claimed, look.textLimit), ...unlandedRows(unlanded, look) }, says };
}

/** What was handed over: a task, or a scope. */
export function showAccepted(body: Row, look: Look): Shown {
  const claim = body.claim as Row | null;
  return claim === null ? showClaimed(body as never, look) : showScopes({ ...body, claims: [claim] }, look);
}

export function showKept(task: Row, look: Look): Shown {
  const data = { task: view(task, VIEWS.lease, look.textLimit) };
  return { data, says: `Task ${task.id} is still yours: ${leaseWords(task)}.${cancelWords(task)}` };
}

export function showEnded(task: Row, look: Look): Shown {
  const tries = task.status === "open" ? ` again (attempts ${task.attempts} of ${task.max_attempts})` : "";
  return {
    data: { task: view(task, VIEWS.lease, look.textLimit) },
    says: `Task ${task.id} is ${task.status}${tries}. You hold it no longer.`,
  };
}

const verdictWords = ({ verdict }: Row) => {
  const judged = verdict as { outcome: string; stale: boolean } | null;
  return judged ? `judged ${judged.outcome}${judged.stale ? " (stale)" : ""}` : "not judged yet";
};

export function showJudged(task: Row, look: Look): Shown {
  const says = `Task ${task.id} is ${task.status}, ${verdictWords(task)}, with ${count((task.evidence as unknown[]).length, "piece")} of evidence.`;
  return { data: { task: view(task, VIEWS.judged, look.textLimit) }, says };
}

export function showContext(body: Row, look: Look): Shown {
  const says = `The context of task ${body.task_id} is at version ${body.version}.`;
  return { data: { context: view(body, VIEWS.context, look.textLimit) }, says };
}

export function showCreated(tasks: readonly Row[], look: Look): Shown {
  // All were created; where not all ids fit a short answer, the newest-first list has the others.
  const shown = tasks.slice(0, look.rows);
  const left = tasks.length - shown.length;
  const names = shown.map((task) => `${task.id} ${quote(task.content, 30)}`).join("; ");
  const more = left > 0 ? `; ${left} more: list_tasks {"sort":"-created"}` : "";
  return {
    data: { created: tasks.length, tasks: shown.map((task) => view(task, VIEWS.created, look.textLimit)) },
    says: `Created ${count(tasks.length, "task")}: ${names}${more}.`,
  };
}

export function showDelegated(task: Row, look: Look): Shown {
  const says = `Delegated task ${task.id} ${quote(task.content, 30)}. You hold its parent ${task.parent_task_id} no longer; it is yours again when its parts are completed.`;
  return { data: { created: 1, tasks: [view(task, VIEWS.created, look.textLimit)] }, says };
}

const standing = (task: Row) =>
  task.ready ? ", ready" : task.stalled ? ", stalled" : Number(task.blocked_by_count) > 0 ? ", blocked" : "";

export function showWaiting(task: Row, look: Look): Shown {
  const left = Number(task.blocked_by_count);
  const waits = left === 0 ? "waits for nothing" : `waits for ${count(left, "task")}${task.stalled ? ", stalled" : ""}`;
  return { data: { task: view(task, VIEWS.waiting, look.textLimit) }, says: `Task ${task.id} ${waits}.` };
}

export function showTasks(tasks: readonly Row[], look: Look): Shown {
  const lines = tasks.map((task) => `${task.id} ${task.status}${standing(task)} ${quote(task.content, 40)}`);
  const data = { tasks: tasks.map((task) => view(task, VIEWS.listed, look.textLimit)), ...paging(look) };
  return { data, says: listWords("task", lines, "list_tasks", look) };
}

export function showTask(task: Row, look: Look): Shown {
  const why = view(look.beside ?? {}, VIEWS.why, look.textLimit);
  return {
    data: { task: view(task, undefined, look.textLimit), why: { claimable: false, ...why } },
    says: `Task ${task.id} ${quote(task.content)} is ${task.status}. ${plain(String(why.explanation ?? ""))}`.trim(),
  };
}

/** Rows of unlanded work beside an answer. */
const UNLANDED_SHOWN = 5;

const holding = (row: Row) => (row.kind === "task" ? row.task_id : quote(row.scope));

/** Branches whose work overlaps what was claimed and is not on the base yet: read these before you write. */
function unlandedWords(unlanded: readonly Row[]): string {
  if (unlanded.length === 0) return "";
  const named = unlanded.slice(0, 3).map((row) => `${quote(row.branch, 40)} (${row.agent_name})`);
  const more = unlanded.length > named.length ? ` and ${unlanded.length - named.length} more` : "";
  return ` Not landed yet, and overlapping: ${named.join(", ")}${more}.`;
}

function unlandedRows(unlanded: readonly Row[], look: Look): View {
  if (unlanded.length === 0) return {};
  return { unlanded: unlanded.slice(0, UNLANDED_SHOWN).map((row) => view(row, VIEWS.unlanded, look.textLimit)) };
}

export function showScopes(
  body: Row & { readonly claims: readonly Row[]; readonly unlanded?: readonly Row[] },
  look: Look,
): Shown {
  const { claims, ticket, position, unlanded = [] } = body;
  if (ticket !== undefined) {
    const says = `Not free: you are number ${position} in line (ticket ${ticket}). Call this again with the same arguments and wait_seconds to keep your place and take what is offered; session {"action":"end"} leaves.`;
    return { data: { claims: [], ticket, position }, says };
  }
  const named = claims.map((row) => `${quote(row.scope)} (fence ${row.fence})`).join(", ");
  const left = seconds(Math.min(...claims.map((row) => Number(row.remaining_ms))));
  const says = `You hold ${named}: ${left} s left. session {"action":"heartbeat"} keeps them, release_scopes gives them back.${unlandedWords(unlanded)}`;
  const rows = claims.map((row) => view(row, VIEWS.scope, look.textLimit));
  return { data: { claims: rows, ...unlandedRows(unlanded, look) }, says };
}

export function showYield(body: Row): Shown {
  const { id, answer, scope } = body;
  const says =
    answer === null || answer === undefined
      ? `Asked for ${quote(scope)} (yield_id ${id}); the holder's answer comes as a notice. To get what is yielded wait in line: claim_scopes with wait.`
      : `Answered: ${answer} ${quote(scope)}.`;
  return { data: { yield_id: id, answer: answer ?? null, scope }, says };
}

export function showReleased(body: Row, look: Look): Shown {
  const items = body.items as readonly Row[];
  const kept = items.length - Number(body.released);
  const says = `Released ${count(Number(body.released), "scope")}${kept > 0 ? `, ${kept} not: see items` : ""}.`;
  return {
    data: { released: body.released, items: items.map((row) => view(row, VIEWS.scopeItem, look.textLimit)) },
    says,
  };
}

export function showClaims(rows: readonly Row[], look: Look): Shown {
  const lines = rows.map((row) => `${holding(row)} held by ${row.agent_name}, ${seconds(row.remaining_ms)} s left`);
  const data = { claims: rows.map((row) => view(row, VIEWS.claim, look.textLimit)), ...paging(look) };
  return { data, says: listWords("claim", lines, "who_holds", look) };
}

export function showEvents(events: readonly Row[], look: Look): Shown {
  const flat = events.map((event) => ({ ...event, ...(event.actor as Row | null) }) as Row);
  const after = events.at(-1)?.id;
  const lines = flat.map(
    (event) => `#${event.id} ${event.type} ${event.task_id ?? ""} by ${event.agent_name ?? "the clock"}`,
  );
  const data = { events: flat.map((event) => view(event, VIEWS.event, look.textLimit)), ...(after ? { after } : {}) };
  const next = look.more ? `\nMore: events {"after":"${after}"}` : "";
  return { data, says: `${count(events.length, "event")}.${lines.map((line) => `\n${line}`).join("")}${next}` };
}

export function showSession(body: Row, look: Look): Shown {
  const items = (body.items as readonly Row[] | undefined)?.map((item) => view(item, VIEWS.item, look.textLimit));
  const lost = items?.filter((item) => item.outcome === "lost").length ?? 0;
  const renewed = items ? ` Renewed ${count(items.length - lost, "lease")}, lost ${lost}.` : "";
  const left = body.implicit === true ? "" : `, ${seconds(body.remaining_ms)} s left`;
  return {
    data: { session: view(body, VIEWS.session, look.textLimit), ...(items ? { items } : {}) },
    says: `Session ${body.id} of ${body.agent_name} is ${body.state}${left}; it holds ${count(Number(body.tasks_held), "task")}.${renewed}`,
  };
}

export function showOpened(body: Row, look: Look): Shown {
  const shown = showSession(body, look);
  return { ...shown, says: `${shown.says} Send session_id with every call that belongs to it.` };
}

export function showSessionEnd(body: Row): Shown {
  const says = `Session ${body.session_id} has ended; ${count(Number(body.tasks_released), "task")} released.`;
  return { data: { ended: { ...body } }, says };
}

export function showAcknowledged(body: Row): Shown {
  return { data: { ...body }, says: `${count(Number(body.acknowledged), "notice")} acknowledged.` };
}

function paging(look: Look): View {
  return look.nextCursor === undefined ? {} : { next_cursor: look.nextCursor };
}

function listWords(thing: string, lines: readonly string[], tool: string, look: Look): string {
  const more = look.nextCursor === undefined ? "" : `\nMore: ${tool} {"cursor":${JSON.stringify(look.nextCursor)}}`;
  return `${count(lines.length, thing)}.${lines.map((line) => `\n${line}`).join("")}${more}`;
}
