import type { CallToolResult } from "@modelcontextprotocol/server";
import { DibsError, invalidInput, isDibsError } from "../contract/errors.js";
import type { Answer, Call, Caller, Operation } from "../contract/operation.js";
import { operations } from "../contract/operations.js";
import type { Look, Shown } from "./answers.js";
import { readArguments } from "./arguments.js";
import type { Care, Notice } from "./care.js";
import { fieldKind } from "./field-kinds.js";
import { advisedInTools, answer, calledTools, refusal } from "./refusal.js";
import type { Seat } from "./seat.js";
import { fieldsOf, offeredBy, sessionIdField } from "./tool-fields.js";
import { type Front, TOOL_OF, type Tool } from "./tools.js";
import { type Row, VIEWS, type View, view } from "./views.js";
import { quote } from "./wording.js";

/** What an answer may cost an agent that didn't ask for more, counted as 3.5 characters a token. */
const ANSWER_CHARACTERS = 1050;
/** How long agents' texts may be in an answer about one thing: the first of these with which the answer fits. */
const TEXT_LIMITS = [1000, 600, 400, 300, 200, 150, 100, 60, 30];
const ROW_TEXT_LIMIT = 60;
const ROWS_DEFAULT = 20;
const NOTICES_MAX = 5;

/** What the tools work with. */
export interface Desk {
  readonly call: Call;
  readonly care: Care;
  /** Told of faults that are no refusal of Dibs; the agent learns only that there was one. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/**
 * Runs one call of a tool: reads the arguments, finds the operation they mean, asks it, and answers in the compact
 * form, with the notices that wait. Never throws: a refusal is a result with `isError`.
 */
export async function runTool(
  desk: Desk,
  tool: Tool,
  given: Record<string, unknown>,
  seat: Seat,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let front: Front | undefined;
  let caller: Caller = { identity: seat.identity, signal };
  try {
    const args = readArguments(fieldsOf(tool), given);
    front = choose(tool, args);
    const opens = front.operation.effect === "write" && front.opens !== false;
    const sessionId = namedSession(args) ?? (await seat.session(opens));
    caller = { ...caller, ...(sessionId === undefined ? {} : { sessionId }) };
    const input = inputOf(front, args);
    await addWhatIsMeant(desk, front, input, caller, seat);
    const { shown, last } = await ask(desk, front, input, caller);
    const notices = await careFor(desk, seat, front, caller, last);
    return withNotices(answer(shown.data, shown.says), notices);
  } catch (thrown) {
    if (!isDibsError(thrown) && !signal.aborted) desk.onFault?.(thrown);
    if (isDibsError(thrown, "session_ended")) seat.ended?.(caller.sessionId);
    const refused = refusal(thrown, front?.names, TOOL_OF);
    // Whoever was refused for what it holds or holds no longer is also told the rest.
    const tell = isDibsError(thrown) && thrown.status === 409 && thrown.code !== "session_ended";
    return tell ? withNotices(refused, await desk.care.notices(caller)) : refused;
  }
}

/** The contract checks what goes to an operation; which session calls is said beside it. */
function namedSession(args: View): string | undefined {
  const read = sessionIdField.safeParse(args.session_id);
  if (!read.success) throw invalidInput("session_id", read.error.issues[0]?.message ?? "must be an id");
  return read.data;
}

function choose(tool: Tool, args: View): Front {
  const front = tool.fronts.find((candidate) => candidate.when(args));
  if (front === undefined) {
    const action = tool.own?.action && fieldKind(tool.own.action);
    throw invalidInput("action", `must be one of ${action?.kind === "choice" ? action.options.join(", ") : ""}`);
  }
  const offered = offeredBy(front);
  for (const [name, value] of Object.entries(args)) {
    const fits = Object.hasOwn(offered, name) || Object.hasOwn(tool.own ?? {}, name) || name === "session_id";
    if (fits || saysNothing(value)) continue;
    const where = tool.fronts.filter((other) => Object.hasOwn(offeredBy(other), name)).map((other) => other.label);
    throw invalidInput(name, `goes only ${where.join(" or ")}`);
  }
  return front;
}

/** What clients send for a parameter they don't mean. */
function saysNothing(value: unknown): boolean {
  return value === false || value === 0 || (Array.isArray(value) && value.length === 0);
}

function inputOf(front: Front, args: View): Record<string, unknown> {
  const offered = offeredBy(front);
  const input: [string, unknown][] = [];
  for (const [name, value] of Object.entries(args)) {
    if (Object.hasOwn(offered, name)) input.push([front.names?.[name] ?? name, value]);
  }
  return { ...Object.fromEntries(input), ...front.means };
}

/** Fills in what the caller left to us: which session is its own, and the lease it was given here. */
async function addWhatIsMeant(desk: Desk, front: Front, input: View, caller: Caller, seat: Seat): Promise<void> {
  const { shape } = front.operation.input;
  if (Object.hasOwn(shape, "session_id") && !Object.values(front.names ?? {}).includes("session_id")) {
    input.session_id = caller.sessionId ?? (seat.implicit ? await desk.care.implicitSession(caller) : undefined);
    if (input.session_id === undefined) {
      throw new DibsError("not_found", 'You have no open session; session {"action":"open"} opens one.', {});
    }
  }
  if (Object.hasOwn(shape, "lease_id")) input.lease_id ??= seat.leaseOf?.(input.task_id, caller.sessionId);
}

/** Asks the front's operation and shows its answer, within what an answer may cost unless the caller asked for more. */
async function ask(
  desk: Desk,
  front: Front,
  input: View,
  caller: Caller,
): Promise<{ shown: Shown; last: Answer<unknown> }> {
  const { operation } = front;
  const one = (asked: Operation, with_: View) => desk.call(asked, with_ as never, caller);
  const paged = Object.hasOwn(operation.input.shape, "limit");
  const limit = paged ? (input.limit ?? ROWS_DEFAULT) : undefined;
  const last = await one(operation, limit === undefined ? input : { ...input, limit });
  const beside = front.beside ? advisedInTools((await one(front.beside, input)).body as Row, TOOL_OF) : {};
  const show = (found: Answer<unknown>, body: unknown, look: Partial<Look>) =>
    front.show(body as never, { textLimit: ROW_TEXT_LIMIT, nextCursor: found.nextCursor, beside, ...look });
  if (!Array.isArray(last.body)) {
    return { shown: fitText((textLimit) => show(last, last.body, { textLimit }), front.whole), last };
  }
  const all = last.body;
  const full = (found: readonly unknown[], asked: unknown) => paged && found.length === asked;
  if (input.limit !== undefined) return { shown: show(last, all, { more: full(all, limit) }), last };
  const rows = fitRows(all.length, (k) => show(last, all.slice(0, k), { more: true, rows: k }));
  if (!paged) return { shown: show(last, all, { rows }), last };
  if (rows === all.length) return { shown: show(last, all, { more: full(all, limit) }), last };
  // Asked again for what fits, so that the next page begins where this one ends.
  const again = await one(operation, { ...input, limit: rows });
  return { shown: show(again, again.body, { more: full(again.body as unknown[], rows) }), last: again };
}

function fits(shown: Shown): boolean {
  return JSON.stringify(answer(shown.data, shown.says)).length <= ANSWER_CHARACTERS;
}

function fitText(show: (textLimit: number) => Shown, whole: boolean | undefined): Shown {
  if (whole) return show(Number.POSITIVE_INFINITY);
  for (const limit of TEXT_LIMITS) {
    const shown = show(limit);
    if (fits(shown)) return shown;
  }
  return show(TEXT_LIMITS.at(-1) as number);
}

function fitRows(total: number, show: (rows: number) => Shown): number {
  let rows = total;
  while (rows > 1 && !fits(show(rows))) rows -= 1;
  return rows;
}

/** Renews what is due, and brings the notices: those in the answer, or those that wait. */
async function careFor(desk: Desk, seat: Seat, front: Front, caller: Caller, last: Answer<unknown>) {
  const body = last.body as { task?: Row | null; notices?: readonly Notice[] };
  const task = body.task ?? undefined;
  if (front.operation === operations.end_session) {
    const ended = (last.body as { session_id: string }).session_id;
    desk.care.forget(ended);
    seat.ended?.(ended);
    return [];
  }
  const sessionId = task?.claimed_by_session_id as string | undefined;
  if (task) seat.claimed?.(task.id as string, task.lease_id as string, sessionId);
  const leaseMs = task?.lease_remaining_ms as number | undefined;
  if (caller.sessionId === undefined && !seat.implicit) return body.notices ?? [];
  const found = await desk.care.after(caller, { sessionId, leaseMs, notices: last.notices });
  return found.length > 0 ? found : (body.notices ?? []);
}

function withNotices(result: CallToolResult, notices: readonly Notice[]): CallToolResult {
  if (notices.length === 0) return result;
  const told = notices
    .slice(0, NOTICES_MAX)
    .map((notice) => ({ ...notice, message: calledTools(notice.message, TOOL_OF) }));
  const rest = notices.length - told.length;
  const words = told.map((notice) => `${notice.type} ${quote(notice.message, 200)}`).join("; ");
  const ack = `session ${JSON.stringify({ action: "ack", ids: told.map((notice) => notice.id) })}`;
  const text = `Notices: ${words}${rest > 0 ? ` and ${rest} more` : ""}. Acknowledge: ${ack}`;
  return {
    ...result,
    content: [...result.content, { type: "text", text }],
    structuredContent: {
      ...(result.structuredContent as View),
      notices: told.map((notice) => view({ ...notice, message: notice.message.slice(0, 300) }, VIEWS.notice, 0)),
      ...(rest > 0 ? { notices_more: rest } : {}),
    },
  };
}
