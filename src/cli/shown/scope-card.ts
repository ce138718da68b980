import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { columnsFor } from "./rows.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";
import { tableLines } from "./table.js";
import { lasting } from "./when.js";

export type Wait = z.output<Operations["get_wait"]["output"]>;
type Checked = z.output<Operations["check_scope"]["output"]>;

/** Whether a scope could be had, and who or what is in its way. */
export function scopeCard({ scope, mode, free, held, conflicts, holds }: Checked, screen: Screen): string[] {
  const { bold, green, yellow } = screen.paint;
  const state = free ? green(held ? "yours" : "free") : yellow("not free");
  return [
    `${state}  ${bold(shown(scope))}  ${mode}`,
    ...(conflicts.length > 0 ? tableLines(columnsFor.claim, conflicts, screen) : []),
    ...frozenLines(holds, screen),
  ];
}

function frozenLines(holds: Checked["holds"], screen: Screen): string[] {
  return holds.length > 0 ? [screen.paint.bold("Frozen"), ...tableLines(columnsFor.hold, holds, screen)] : [];
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

/** Where a ticket is, and who is in its way or what it got. */
export function waitCard(wait: Wait, screen: Screen): string[] {
  const { ticket, state, position, scopes, intent, offer_remaining_ms, ended_how, behind, claims, holds } = wait;
  const { bold, green, yellow, dim } = screen.paint;
  const said = {
    waiting: () => yellow(`number ${position} in line`),
    offered: () => green(`offered, for ${lasting(offer_remaining_ms ?? 0)}: dibs wait accept ${shown(ticket)}`),
    granted: () => green("granted"),
    ended: () => dim(`over (${String(ended_how).replace("_", " ")})`),
  }[state]();
  const rows = state === "granted" ? claims : behind;
  return [
    `${said}  ${bold(scopes.map(({ scope }) => shown(scope)).join(", "))}  ${shown(intent)}`,
    ...(rows.length > 0 ? tableLines(columnsFor.claim, rows, screen) : []),
    ...frozenLines(holds, screen),
  ];
}
