import { DibsError } from "../contract/errors.js";
import { StoreBusy, StoreConflict } from "../core/port/store.js";

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
  /^E(NOENT|CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN|AI_|NOTFOUND)|terminated|timeout|not queryable|ended|closed/i;

/** Faults of TLS before anything was said: Node's, OpenSSL's, and the driver's of a server that has none. */
const NOT_SECURE = /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)|does not support SSL/;

/** The one place where the driver's faults become ours. `where` names the server without its secrets. */
export function translatePostgresFault(fault: unknown, where: string): unknown {
  const { code = "", message = "", syscall } = fault as { code?: string; message?: string; syscall?: string };
  const cause = { cause: fault };
  if (fault instanceof StoreConflict) return fault;
  if (CONFLICTS.has(code) || isPlanOutdated(fault)) return new StoreConflict(message, cause);
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
  if (NOT_SECURE.test(code) || NOT_SECURE.test(message)) {
    const remedy = "check the server's certificate, and sslmode and sslrootcert in DIBS_STORE.";
    return new StoreBusy("store_unavailable", `${where} can't be trusted: ${message}; ${remedy}`, {}, cause);
  }
  if ((code === "ENOENT" || code === "EACCES") && syscall === "open") {
    return new DibsError("store_unavailable", `A file that DIBS_STORE names can't be read: ${message}`, {}, cause);
  }
  if (isLost(fault)) {
    const message = `${where} can't be reached or used just now; repeat the call, with its Idempotency-Key if it has one.`;
    return new StoreBusy("store_unavailable", message, {}, cause);
  }
  return fault;
}

/** A statement was planned before a newer node's migration added a column: a connection without plans can do it. */
export function isPlanOutdated(fault: unknown): boolean {
  const { code, message = "" } = fault as { code?: string; message?: string };
  return code === "0A000" && message.includes("cached plan");
}

/** Whether the connection is lost, or the server can't be used: then the outcome of a commit is unknown. */
export function isLost(fault: unknown): boolean {
  const { code = "", message = "", severity } = fault as { code?: string; message?: string; severity?: string };
  if (code.startsWith("08") || UNAVAILABLE.has(code)) return true;
  // What has a severity came from a server that works. (Five letters don't tell: EPIPE is no SQLSTATE.)
  return severity === undefined && (BROKEN.test(code) || BROKEN.test(message));
}
