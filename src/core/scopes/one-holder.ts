import type { Conflict } from "./scope-conflicts.js";

/** What one claim is in the way of: the first of the names asked for, and the others. */
export interface InTheWay {
  readonly conflict: Conflict;
  readonly also: string[];
}

/**
 * A claim that is in the way of several names is one holder, told once, in the order in which they were met: field reports
 * had one foreign claim told as several (C32, test/rules/overlap-reports.test.ts).
 */
export function oneEach(conflicts: readonly Conflict[]): InTheWay[] {
  const byClaim = new Map<string, { conflict: Conflict; also: string[] }>();
  for (const conflict of conflicts) {
    const known = byClaim.get(conflict.holder.id);
    if (known) known.also.push(conflict.wanted.scope.text);
    else byClaim.set(conflict.holder.id, { conflict, also: [] });
  }
  return [...byClaim.values()];
}
