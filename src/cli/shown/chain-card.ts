import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { paintStatus, statusOf } from "./rows.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";

type Chain = z.output<Operations["get_task_chain"]["output"]>;
type Link = Chain["chain"][number];

/** A tree of tasks for people: each under what it is a part of, with who has it; `→` where its parent waits for it. */
export function chainCard(chain: Chain, screen: Screen): string[] {
  const { dim } = screen.paint;
  const more = chain.truncated ? "; more than are shown" : "";
  return [
    ...chain.chain.map((link) => linkLine(link, screen)),
    "",
    dim(`${chain.completed_count} of ${chain.total_count} completed${more}. → its parent waits for it.`),
  ];
}

function linkLine(link: Link, screen: Screen): string {
  const { dim, bold } = screen.paint;
  const mark = link.depth === 0 ? "" : `${"   ".repeat(link.depth - 1)}${link.delegated ? "→" : "·"}  `;
  const status = paintStatus(statusOf(link), link, screen);
  const whose = link.claimed_by_agent_id ?? link.assigned_to_agent_id;
  const said = [link.id, ...(whose === null ? [] : [`${link.claimed_by_agent_id ? "held by" : "for"} ${whose}`])];
  return `${mark}${status}  ${bold(shown(link.content))}  ${dim(said.join(" · "))}`;
}
