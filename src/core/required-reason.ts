import { DibsError } from "../contract/errors.js";

/** What is done to others, and what is forced, always needs a reason (R46): one refusal for every operation that takes one. */
export function requireReason(reason: string | undefined): asserts reason is string {
  if (reason !== undefined) return;
  const message = "is required: say why, for those it concerns and for the history";
  throw new DibsError("reason_required", `reason ${message}.`, { fields: [{ field: "reason", message }] });
}
