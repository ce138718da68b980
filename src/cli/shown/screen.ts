import { inspect } from "node:util";
import { shown } from "./shown-text.js";

const STYLES = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;
export type Paint = Readonly<Record<(typeof STYLES)[number], (text: string) => string>>;

/** Where people read what a command prints: colours only where they show, times in the reader's own zone. */
export interface Screen {
  readonly paint: Paint;
  /** Columns of the terminal; unbounded when the output goes elsewhere. */
  readonly columns: number;
  /** The deciding clock, to tell times relative to now. */
  readonly nowMs: number;
  /** An IANA zone; the machine's own without it. */
  readonly timeZone?: string;
}

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The screen behind a stream. `color` overrides what the stream says (NO_COLOR, FORCE_COLOR). */
export function screenOf(stream: Stream, color: boolean | undefined, nowMs: number): Screen {
  const columns = stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY;
  return { paint: paintOf(color ?? stream.isTTY === true), columns, nowMs };
}

/** What may stand in a line as it is, beside text: line ends, tabs, and the colours that are painted here. */
const OURS = new RegExp(
  `(\\n|\\t|\\u001b\\[(?:${[...new Set(STYLES.flatMap((style) => inspect.colors[style] ?? []))].join("|")})m)`,
);

/**
 * A line as it may go to a terminal, whoever wrote what is in it. The last of the gates: what forgot to be `shown` before acts
 * on no screen, as the branch of `dibs land --prune` did that set the window's title.
 */
export function harmless(line: string): string {
  // The odd ones are what was split at.
  return line
    .split(OURS)
    .map((part, at) => (at % 2 === 1 ? part : shown(part)))
    .join("");
}

/** What JSON leaves as it is and a terminal acts on: DEL, C1 controls, marks of direction and of lines. */
const ACTS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The value as JSON on one line that acts on no terminal, and says the same. */
export function harmlessJson(value: unknown): string {
  return JSON.stringify(value).replace(ACTS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function paintOf(color: boolean): Paint {
  return Object.fromEntries(
    STYLES.map((style) => {
      const [on, off] = inspect.colors[style] ?? [0, 0];
      return [style, (text: string) => (color ? `\u001b[${on}m${text}\u001b[${off}m` : text)];
    }),
  ) as Paint;
}
