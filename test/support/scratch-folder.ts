import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of the test's own, gone with all that is in it when the test is over: `await using` or `remove()`. */
export class ScratchFolder {
  readonly path = mkdtempSync(join(tmpdir(), "dibs-test-"));

  file(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
