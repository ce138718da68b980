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

export interface InLine {
  readonly ticket: string;
  readonly position: number;
}

/** What a claim got that must wait. */
export function lineCard({ ticket, position }: InLine, { paint }: Screen): string[] {
  return [
    `${paint.yellow(`number ${position} in line`)}  ticket ${shown(ticket)}`,
    `Claim the same again to keep the place and take what is offered, or: dibs wait show ${shown(ticket)} --wait-seconds 60`,
  ];
}
