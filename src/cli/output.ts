import type { Answer } from "../contract/operation.js";
import type { Plan } from "../contract/plan.js";
import type { CommandRow } from "./commands/commands.js";
import { type Failure, failureLines, withCommands } from "./failure.js";
import { cardLines } from "./shown/card.js";
import { chainCard } from "./shown/chain-card.js";
import { planCard } from "./shown/plan-card.js";
import { presenceCard } from "./shown/presence-card.js";
import { columnsFor, type Noun, paintStatus, statusOf } from "./shown/rows.js";
import { type InLine, lineCard, scopeCard, type Wait, waitCard } from "./shown/scope-card.js";
import { type Screen, screenOf } from "./shown/screen.js";
import { shown } from "./shown/shown-text.js";
import { skippedLines } from "./shown/skipped-words.js";
import { tableLines } from "./shown/table.js";
import { unlandedLines } from "./shown/unlanded-words.js";

type Row = Readonly<Record<string, unknown>>;

/** What a command says: data to stdout, messages to stderr; with `json` exactly one JSON value to stdout. */
export class Output {
  readonly json: boolean;
  readonly #color: boolean | undefined;

  constructor(json: boolean, color: boolean | undefined) {
    this.json = json;
    this.#color = color;
  }

  /** The screen behind stdout, as it is at the given instant of the deciding clock. */
  screen(nowMs = Date.now()): Screen {
    return screenOf(process.stdout, this.#color, nowMs);
  }

  data(lines: readonly string[]): void {
    if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
  }

  value(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** A message that is no data. */
  say(...lines: readonly string[]): void {
    if (lines.length > 0) process.stderr.write(`${lines.join("\n")}\n`);
  }

  failure({ error }: Failure): void {
    if (this.json) this.value(error.toProblem());
    this.say(...failureLines(error, screenOf(process.stderr, this.#color, Date.now())));
  }

  /** An operation's answer, as JSON or for people. */
  answer(row: CommandRow, answer: Answer<unknown>, { narrowed = false, sessionId }: Asking = {}): void {
    const screen = this.screen(answer.serverNowMs);
    if (this.json) this.value(answer.body);
    else this.data(answerLines(row, answer.body, screen, narrowed));
    const { body } = answer;
    const messages = this.json ? [] : [...skippedLines(body, screen), ...unlandedLines(body), ...noticeLines(body)];
    if (answer.notices > 0 && (this.json || noticeLines(answer.body).length === 0)) {
      messages.push(
        `${answer.notices} notice(s) wait for this session: dibs session ${sessionId ? `show ${sessionId}` : "list"}`,
      );
    }
    if (answer.nextCursor) messages.push(`There is more: add --cursor ${answer.nextCursor}`);
    this.say(...messages);
  }
}

/** How an answer was asked for. */
interface Asking {
  /** To less than all there is. */
  readonly narrowed?: boolean;
  readonly sessionId?: string | undefined;
}

const NONE: Partial<Record<Noun, string>> = {
  claim: "Nobody holds anything.",
  history: "No events.",
  item: "Nothing of yours.",
  past: "Nobody held it.",
  unlanded: "No unlanded work.",
  wait: "Nobody waits.",
  yield: "Nobody asked for anything.",
};

function answerLines(row: CommandRow, body: unknown, screen: Screen, narrowed: boolean): string[] {
  const { task, tasks, claims, items, pruned, text, ...rest } = body as Row;
  if (typeof text === "string" && row.operation === "get_plan_graph") return [text.trimEnd()];
  if (typeof rest.ticket === "string" && row.operation === "claim_scopes") return lineCard(body as InLine, screen);
  if (typeof rest.ticket === "string") return waitCard(body as Wait, screen);
  if (row.operation === "get_presence") return presenceCard(body as Parameters<typeof presenceCard>[0], screen);
  if (row.operation === "get_task_chain") return chainCard(body as Parameters<typeof chainCard>[0], screen);
  if (row.rows === "step") return planCard(body as Plan, screen);
  const rows = Array.isArray(body) ? body : (tasks ?? claims ?? pruned ?? (row.rows === "item" ? items : undefined));
  if (Array.isArray(rows)) return listLines(row, rows as Row[], screen, narrowed);
  if (task === null) return [];
  if (row.operation === "check_scope") return scopeCard(body as Parameters<typeof scopeCard>[0], screen);
  return recordLines(row, (task as Row | undefined) ?? rest, screen);
}

function listLines(row: CommandRow, rows: readonly Row[], screen: Screen, narrowed: boolean): string[] {
  const noun = row.rows ?? "claim";
  const none = noun === "claim" && narrowed ? "Nobody holds any of that." : (NONE[noun] ?? `No ${noun}s.`);
  if (rows.length === 0) return [screen.paint.dim(none)];
  return tableLines(columnsFor[noun], rows, screen);
}

function recordLines(row: CommandRow, record: Row, screen: Screen): string[] {
  const { notices: _notices, unlanded: _unlanded, ...fields } = record;
  const title = titleOf(fields, screen);
  const chosen = row.fields?.filter((field) => field in fields);
  return [...(title ? [title] : []), ...cardLines(fields, screen, chosen?.length ? chosen : undefined)];
}

function titleOf(record: Row, screen: Screen): string | undefined {
  if (typeof record.content === "string" && typeof record.status === "string") {
    return `${paintStatus(statusOf(record), record, screen)}  ${screen.paint.bold(shown(record.content))}`;
  }
  return typeof record.name === "string" ? screen.paint.bold(shown(record.name)) : undefined;
}

function noticeLines(body: unknown): string[] {
  const { notices } = body as { notices?: { id: string; message: string }[] };
  return (notices ?? []).map(
    ({ id, message }) => `! ${shown(withCommands(message))}  (seen: dibs session ack --id ${id})`,
  );
}
