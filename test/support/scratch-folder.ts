import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QUICK_DISK } from "./quick-disk.js";

/** A folder of the test's own, gone with all that is in it when the test is over: `await using` or `remove()`. */
export class ScratchFolder {
  readonly path: string;

  constructor(parent = QUICK_DISK) {
    this.path = mkdtempSync(join(parent, "dibs-test-"));
  }

  /** On a disk that takes its time to sync, milliseconds a commit: for races and crashes, which shall meet it at work. */
  static onDisk(): ScratchFolder {
    return new ScratchFolder(tmpdir());
  }

  file(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
