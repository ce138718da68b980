import { statSync } from "node:fs";
import { DibsError } from "../contract/errors.js";

/**
 * The file and its log as they were when the store was opened. A process that has them open goes on with them after
 * they were removed or replaced: what it is told to keep would be gone at the next start, and another process on the
 * same path would have another queue.
 */
export class OpenedFile {
  readonly #parts: readonly { readonly path: string; readonly identity: string }[];

  constructor(readonly path: string) {
    const parts = path === ":memory:" ? [] : [path, `${path}-wal`];
    // While it is open here, nobody else removes its log: whoever closes the file leaves it to those who have it open.
    this.#parts = parts
      .map((part) => ({ path: part, identity: identityOf(part) }))
      .filter((part) => part.identity !== MISSING);
  }

  /** Throws `store_unavailable` when the path names something else by now. Asks the file system's cache, not the disk. */
  requireSame(): void {
    for (const { path, identity } of this.#parts) {
      const now = identityOf(path);
      if (now === identity) continue;
      throw new DibsError(
        "store_unavailable",
        `${path} was ${now === MISSING ? "removed" : "replaced"} while Dibs had it open, so nothing can be kept there. ` +
          "Stop every Dibs on this store, put back the file and its -wal (or a backup), and start again.",
        {},
      );
    }
  }
}

const MISSING = "missing";

function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  // A store of no bytes is none: it was cut off where it stands.
  if (found === undefined || (found.size === 0 && !path.endsWith("-wal"))) return MISSING;
  return `${found.dev}:${found.ino}`;
}
