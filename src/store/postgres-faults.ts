import { DibsError } from "../contract/errors.js";
import { StoreBusy, StoreConflict } from "../core/store.js";

/** SQLSTATEs after which the same transaction may do as well as any: serialization, deadlock, a lock not had, rows not as read, a key just taken. */
const CONFLICTS = new Set(["40001", "40P01", "55P03", "DB001", "23505"]);
/** SQLSTATEs of a server that can't be used now: shutting down, starting, full of connections, read-only, cancelled. */
const UNAVAILABLE = new Set(["57P01", "57P02", "57P03", "53300", "53400", "25006", "57014", "25P03", "55000"]);
const REFUSED: Readonly<Record<string, string>> = {
  "28P01": "refused the password",
  "28000": "refused the login",
  "3D000": "has no such database",
  "42501": "refused: the role lacks a right",
};
/** Node's and the driver's own faults of a connection that broke, or was never made. */
const BROKEN =
  /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN|AI_|NOTFOUND)|terminated|timeout|not queryable|ended|closed/i;

/** The one place where the driver's faults become ours. `where` names the server without its secrets. */
export function translatePostgresFault(fault: unknown, where: string): unknown {
  const { code = "", message = "" } = fault as { code?: string; message?: string };
  const cause = { cause: fault };
  if (fault instanceof StoreConflict) return fault;
  if (CONFLICTS.has(code)) return new StoreConflict(message, cause);
  if (code === "53100") {
    return new DibsError(
      "storage_full",
      `The disk of ${where} is full; free some space and repeat the call.`,
      {},
      cause,
    );
  }
  const refused = REFUSED[code];
  if (refused !== undefined)
    return new StoreBusy("store_unavailable", `${where} ${refused}; check DIBS_STORE.`, {}, cause);
  if (isLost(fault)) {
    const message = `${where} can't be reached or used just now; repeat the call, with its Idempotency-Key if it has one.`;
    return new StoreBusy("store_unavailable", message, {}, cause);
  }
  return fault;
}

/** Whether the connection is lost, or the server can't be used: then the outcome of a commit is unknown. */
export function isLost(fault: unknown): boolean {
  const { code = "", message = "", severity } = fault as { code?: string; message?: string; severity?: string };
  if (code.startsWith("08") || UNAVAILABLE.has(code)) return true;
  // What has a severity came from a server that works. (Five letters don't tell: EPIPE is no SQLSTATE.)
  return severity === undefined && (BROKEN.test(code) || BROKEN.test(message));
}
