import type { ClaimRow } from "../../contract/claim-row.js";

/** In which way somebody is in the way: a row without a fence is a ticket in line, which holds nothing. */
export function inTheWay({ fence, agent_name, task_id }: Pick<ClaimRow, "fence" | "agent_name" | "task_id">): string {
  if (fence > 0) return `held by ${agent_name}`;
  return agent_name === "" ? `kept for task ${task_id}` : `waited for by ${agent_name}`;
}
