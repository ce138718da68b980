import type { Look } from "./answers.js";
import { type Row, type View, view } from "./views.js";
import { count, quote, seconds } from "./wording.js";

/** What a claim says of tasks that came first and can't be had. */
export interface Passing {
  readonly skipped?: readonly Row[];
  readonly skipped_count?: number;
}

const SHOWN_MAX = 3;

/** How many were passed over, and who has what the first of them need, until when. */
export function passedWords({ skipped = [], skipped_count: all = 0 }: Passing): string {
  if (all === 0) return "";
  const named = skipped.slice(0, SHOWN_MAX).map(({ content, holder, hold }) => {
    const by = (holder ?? hold) as Row | null;
    const what = hold ? "frozen" : quote(by?.scope, 30);
    return `${quote(content, 20)}${by ? ` (${what} by ${by.agent_name}, ${seconds(by.remaining_ms)} s left)` : ""}`;
  });
  const more = all > named.length ? ` and ${all - named.length} more` : "";
  return ` Passed over ${count(all, "task")} that can't be had now: ${named.join(", ")}${more}.`;
}

/** The same in the compact form, with the claim that request_yield takes. */
export function passed({ skipped = [], skipped_count: all = 0 }: Passing, look: Look): View {
  if (all === 0) return {};
  const rows = skipped.slice(0, SHOWN_MAX).map(({ id, holder }) => {
    const claim = (holder ?? {}) as Row;
    const by = view({ ...claim, claim_id: claim.id }, ["claim_id", "scope", "agent_name"], look.textLimit);
    return { task_id: id, ...by };
  });
  return { skipped_count: all, skipped: rows };
}
