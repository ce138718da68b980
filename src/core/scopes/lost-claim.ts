import { DibsError } from "../../contract/errors.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";

/** The refusal of a repeat whose first answer gave the claim, which has ended since (R59). */
export function givenAndLost(row: ScopeClaimRow | undefined): DibsError<"lease_lost"> {
  return new DibsError("lease_lost", `${row?.scope ?? "A scope"} was granted by this call, and is held no more.`, {
    reason: row?.ended_how ?? "expired",
    next: ["Stop working on it.", "Claim it again, with another Idempotency-Key: claim_scopes."],
  });
}
