import { inspect } from "node:util";

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

export function paintOf(color: boolean): Paint {
  return Object.fromEntries(
    STYLES.map((style) => {
      const [on, off] = inspect.colors[style] ?? [0, 0];
      return [style, (text: string) => (color ? `\u001b[${on}m${text}\u001b[${off}m` : text)];
    }),
  ) as Paint;
}
