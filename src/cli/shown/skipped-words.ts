import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { inTheWay } from "./holder-words.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";
import { when } from "./when.js";

type Skipped = z.output<Operations["claim_next_task"]["output"]>["skipped"][number];

const SHOWN_MAX = 3;

/** What a claim passed over, and because of whom: a line each for the first, none where nothing was. */
export function skippedLines(answer: unknown, screen: Screen): string[] {
  const { skipped, skipped_count: count } = answer as { skipped?: readonly Skipped[]; skipped_count?: number };
  if (!Array.isArray(skipped) || !count) return [];
  const lines = skipped
    .slice(0, SHOWN_MAX)
    .map((row: Skipped) => `  ${shown(`“${row.content}”`)}: ${because(row, screen)}`);
  const more = count > lines.length ? [`  and ${count - lines.length} more: dibs task list --ready`] : [];
  return [`Passed over ${count} task${count === 1 ? "" : "s"}, which can't be had now:`, ...lines, ...more];
}

function because({ code, holder, hold }: Skipped, screen: Screen): string {
  if (code === "limit_exceeded") return "with its scopes it is more than you may hold (claims_per_agent_max)";
  const until = (at: string) => `until ${when(Date.parse(at), screen)}`;
  if (hold) return shown(`frozen by ${hold.agent_name} for “${hold.reason}” ${until(hold.expires_at)}`);
  if (!holder) return "its scopes weren't free";
  const who = `${holder.scope} is ${inTheWay(holder)}`;
  if (holder.agent_name === "") return shown(who);
  // When a ticket ends says nothing of when the scope is free.
  const end = holder.fence > 0 ? ` ${until(holder.expires_at)}` : "";
  return shown(`${who} for “${holder.intent}”${end}`);
}
