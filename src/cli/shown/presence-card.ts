import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { columnsFor } from "./rows.js";
import type { Screen } from "./screen.js";
import { tableLines } from "./table.js";

type Presence = z.output<Operations["get_presence"]["output"]>;

/** Who is here and does what; beneath it what is frozen, and what isn't landed. */
export function presenceCard({ sessions, more, holds, unlanded }: Presence, screen: Screen): string[] {
  const { bold, dim } = screen.paint;
  return [
    ...(sessions.length > 0 ? tableLines(columnsFor.present, sessions, screen) : [dim("Nobody is here.")]),
    ...(more ? [dim("There are more: --limit 1000, or narrow it by --agent-id.")] : []),
    ...(holds.length > 0 ? ["", bold("Frozen"), ...tableLines(columnsFor.hold, holds, screen)] : []),
    ...(unlanded.length > 0 ? ["", bold("Not landed"), ...tableLines(columnsFor.unlanded, unlanded, screen)] : []),
  ];
}
