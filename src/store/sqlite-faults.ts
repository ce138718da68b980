import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DibsError } from "../contract/errors.js";
import { StoreBusy } from "../core/port/store.js";

const BUSY_LIMIT_MS = 30_000;
const BUSY_AGAIN_MS = 1_000;
/** The log and its index can't be made with less. */
const DISK_MIN_BYTES = 65_536;

/** Primary result codes; the drivers give the extended code as a number (`errcode`) or by name (`code`). */
const RESULT = { busy: 5, locked: 6, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cantOpen: 14, notADb: 26 };
const NAMES: Record<string, number> = {
  SQLITE_BUSY: RESULT.busy,
  SQLITE_LOCKED: RESULT.locked,
  SQLITE_READONLY: RESULT.readOnly,
  SQLITE_IOERR: RESULT.ioError,
  SQLITE_CORRUPT: RESULT.corrupt,
  SQLITE_FULL: RESULT.full,
  SQLITE_CANTOPEN: RESULT.cantOpen,
  SQLITE_NOTADB: RESULT.notADb,
};

function resultOf(fault: unknown): number | undefined {
  const { errcode, code } = fault as { errcode?: number; code?: string };
  if (typeof errcode === "number") return errcode & 0xff;
  if (typeof code !== "string") return undefined;
  const name = Object.keys(NAMES).find((known) => code === known || code.startsWith(`${known}_`));
  return name === undefined ? undefined : NAMES[name];
}

/** The one place where driver faults become ours. What isn't the store's fault is passed on as it is. */
export function translateSqliteFault(fault: unknown, path: string): unknown {
  const cause = { cause: fault };
  switch (resultOf(fault)) {
    case RESULT.full:
      return storageFull(path, cause);
    case RESULT.busy:
    case RESULT.locked:
      return new StoreBusy(
        "store_unavailable",
        `${path} was locked by another process for ${BUSY_LIMIT_MS / 1000} s; see which one holds it and repeat the call.`,
        {},
        cause,
      );
    case RESULT.readOnly:
      return new DibsError(
        "store_unavailable",
        `${path} can't be written; check its permissions and its disk.`,
        {},
        cause,
      );
    case RESULT.corrupt:
    case RESULT.notADb:
      return new DibsError(
        "store_unavailable",
        `${path} is damaged or no Dibs store; restore it from a backup.`,
        {},
        cause,
      );
    case RESULT.ioError:
    case RESULT.cantOpen:
      // SQLite calls it an I/O error when it is the log's index that has no room.
      if (isDiskFull(path)) return storageFull(path, cause);
      return new DibsError(
        "store_unavailable",
        `${path} can't be opened or read; check that its folder exists.`,
        {},
        cause,
      );
    default:
      return fault;
  }
}

function storageFull(path: string, cause: ErrorOptions): DibsError<"storage_full"> {
  return new DibsError("storage_full", `The disk of ${path} is full; free some space and repeat the call.`, {}, cause);
}

function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < DISK_MIN_BYTES;
  } catch {
    return false;
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Repeats what finds the file locked, for 30 s. SQLite's own handler backs off to 100 ms, which starves whoever waits
 * longest; here every waiter keeps asking every 1 to 8 ms, at random, so that all have the same chance. Blocks its
 * thread: a server runs the store in a thread of its own (R56).
 *
 * The 30 s count from when the file was first found locked. What was queued behind a call that waited so long has
 * waited with it, and is refused after one more second.
 */
export class BusyRetry {
  readonly #limitMs: number;
  #lockedSinceMs = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(limitMs = BUSY_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  run<T>(attempt: () => T): T {
    const againMs = Math.min(BUSY_AGAIN_MS, this.#limitMs);
    const startedAtMs = performance.now();
    if (startedAtMs - this.#refusedAtMs > againMs) this.#lockedSinceMs = startedAtMs;
    for (;;) {
      try {
        const result = attempt();
        this.#refusedAtMs = Number.NEGATIVE_INFINITY;
        return result;
      } catch (fault) {
        if (resultOf(fault) !== RESULT.busy) throw fault;
        const nowMs = performance.now();
        if (nowMs - this.#lockedSinceMs > this.#limitMs && nowMs - startedAtMs > againMs) {
          this.#refusedAtMs = nowMs;
          throw fault;
        }
        Atomics.wait(sleeper, 0, 0, 1 + Math.random() * 7);
      }
    }
  }
}

// Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9p, FUSE, Ceph, AFS.
const NETWORK_FILE_SYSTEMS = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f,
]);

/** Write-ahead logging needs memory shared by all processes, which network mounts don't give (R56). */
export function refuseNetworkFileSystem(
  path: string,
  fileSystemOf = (folder: string) => statfsSync(folder).type,
): void {
  if (path === ":memory:" || process.platform !== "linux") return;
  let type: number;
  try {
    type = fileSystemOf(dirname(path));
  } catch {
    return; // No such folder: opening the file says so better.
  }
  if (NETWORK_FILE_SYSTEMS.has(type >>> 0)) {
    throw new DibsError(
      "store_unavailable",
      `${path} lies on a network file system (type 0x${type.toString(16)}), where SQLite's log can corrupt it. ` +
        "Keep the file on a local disk, or use a PostgreSQL store.",
      {},
    );
  }
}
