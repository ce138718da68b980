import type { z } from "zod";
import type { Operations } from "../contract/operations.js";
import { columnsFor } from "./rows.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";
import { tableLines } from "./table.js";

type Checked = z.output<Operations["check_scope"]["output"]>;

/** Whether a scope could be had, and who is in its way. */
export function scopeCard({ scope, mode, free, held, conflicts }: Checked, screen: Screen): string[] {
  const { bold, green, yellow } = screen.paint;
  const state = free ? green(held ? "yours" : "free") : yellow("not free");
  return [
    `${state}  ${bold(shown(scope))}  ${mode}`,
    ...(conflicts.length > 0 ? tableLines(columnsFor.claim, conflicts, screen) : []),
  ];
}
