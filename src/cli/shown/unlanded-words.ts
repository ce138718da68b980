import type { Unlanded } from "../../contract/unlanded.js";
import { shown } from "./shown-text.js";

const SHOWN_MAX = 5;

/** What a grant or a refusal says of work on other branches that overlaps: a line each, none where there is none. */
export function unlandedLines(answer: unknown): string[] {
  const { unlanded } = answer as { unlanded?: readonly Unlanded[] };
  if (!Array.isArray(unlanded)) return [];
  const lines = unlanded.slice(0, SHOWN_MAX).map(({ branch, agent_name, agent_deleted, scopes, intent }: Unlanded) => {
    const about = intent === null ? "" : `, "${intent}"`;
    return shown(
      `not landed yet: ${branch} (${agent_name}${agent_deleted ? ", who is deleted" : ""}${about}) changed ${scopes.slice(0, 3).join(", ")}`,
    );
  });
  const more = unlanded.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more: dibs unlanded list`] : lines;
}
