import { ConfigError } from "../config.js";
import type { ClaimRow } from "../contract/claim-row.js";
import { DibsError, EXIT, isDibsError } from "../contract/errors.js";
import { commands } from "./commands/commands.js";
import { inTheWay } from "./shown/holder-words.js";
import type { Screen } from "./shown/screen.js";
import { shown } from "./shown/shown-text.js";
import { unlandedLines } from "./shown/unlanded-words.js";
import { relative, when } from "./shown/when.js";

/** What a thrown thing means on the command line: the error to show and the exit status. */
export interface Failure {
  readonly error: DibsError;
  readonly exit: number;
}

/** Anything thrown, as a `Failure`. A fault of our own keeps its text, so that it can be reported. */
export function failureOf(thrown: unknown): Failure {
  if (isDibsError(thrown)) return { error: thrown, exit: thrown.exit };
  if (thrown instanceof ConfigError) return usage(thrown.message);
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const error = new DibsError("internal", `A fault in Dibs itself: ${text}`, {}, { cause: thrown });
  return { error, exit: error.exit };
}

/** A command line that can't be understood. */
export function usage(message: string): Failure {
  const error = new DibsError("invalid_input", message, { fields: [{ field: "command line", message }] });
  return { error, exit: EXIT.usage };
}

/** Lines for a person: what is wrong, who holds it, and what can be done next. */
export function failureLines(error: DibsError, screen: Screen): string[] {
  const { paint } = screen;
  const details = error.details as Record<string, unknown>;
  const head = `${paint.red("dibs:")} ${shown(withCommands(error.message))} ${paint.dim(`(${error.code})`)}`;
  const fields = list<{ field: string; message: string }>(details.fields)
    .filter(({ message }) => !error.message.includes(message))
    .map(({ field, message }) => `  ${shown(field)}: ${shown(message)}`);
  const holders = [...list<ClaimRow>(details.holder ? [details.holder] : []), ...list<ClaimRow>(details.claims)];
  const held = holders.filter((row) => row.agent_name).map((row) => `  ${holderLine(row, screen)}`);
  const next = list<string>(details.next).map((move) => `  ${paint.dim("next:")} ${shown(withCommands(move))}`);
  const beside = unlandedLines(details).map((line) => `  ${line}`);
  return [head, ...fields, ...held, ...beside, ...next];
}

/** Who holds it, for what, since and until when, on one line. */
function holderLine(row: ClaimRow, screen: Screen): string {
  const client = row.client === null ? "" : ` · ${row.client}`;
  const since = relative(Date.parse(row.claimed_at), screen.nowMs);
  const until = when(Date.parse(row.expires_at), screen);
  const who = shown(`${inTheWay(row)} (session ${row.session_id}${client})`);
  return `${who} for ${shown(`“${row.intent}”`)} · since ${since} · until ${until}`;
}

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

const commandOf = new Map<string, string>(
  commands.flatMap(({ words, operation, named }) => [
    [operation, `dibs ${words}`] as const,
    ...(named ? [[named, `dibs ${words} ID`] as const] : []),
  ]),
);

/** What the core says of an operation's fields, as a command line takes it; before the names of operations are replaced. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bclaim_scopes with wait: true\b/g, "the same command with --wait (dibs run: --wait SECONDS)"],
  [/\bwith wait: true\b/g, "with --wait"],
  [/^claim_ids: or scopes or all: true must/, "SCOPE, --claim-id or --all must"],
  [/^to_session_id: or to_agent_id must/, "--to-session-id or --to-agent-id must"],
  [/^scope: or project: true must/, "SCOPE or --project must"],
  [/^expires_at: or ttl_seconds must/, "--expires-at or --ttl-seconds must"],
  [/\bwith force: true\b/g, "with --force"],
  [/\brequest_yield of claim (\w+)/g, 'dibs yield ask $1 --reason "…"'],
  [/\brequest_yield\b/g, 'dibs yield ask CLAIM_ID --reason "…"'],
  [/\banswer_yield (\w+)/g, "dibs yield answer $1 yield"],
];

/** The core speaks of operations by name; here they are commands, to be typed as they stand where all is known. */
export function withCommands(said: string): string {
  const text = PHRASES.reduce((so, [phrase, command]) => so.replace(phrase, command), said);
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => commandOf.get(word) ?? word);
}
