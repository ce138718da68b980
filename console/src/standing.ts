import type { Task } from "./snapshot.js";

type Waiting = Pick<Task, "status" | "stalled" | "blocked_by_count" | "frozen">;

/** What the page's badge says of a task that waits, as a claim of it would be refused (R17); null of any other. */
export function standingOf({
  status,
  stalled,
  blocked_by_count,
  frozen,
}: Waiting): "stalled" | "delegated" | "blocked" | "frozen" | null {
  if (frozen) return "frozen";
  if (blocked_by_count === 0 || (status !== "open" && status !== "delegated")) return null;
  if (stalled) return "stalled";
  return status === "delegated" ? "delegated" : "blocked";
}
