import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A disk of a few megabytes, mounted for one test, which can be filled to the last byte. Needs root. */
export class SmallDisk {
  /** Why there can be none here; undefined where there can. */
  static readonly impossible = whyNot();

  constructor(
    readonly path: string,
    megabytes: number,
  ) {
    mkdirSync(path);
    run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  }

  /** Takes all space but so many bytes. */
  fill(leaveBytes = 0): void {
    const filler = openSync(join(this.path, "filler"), "w");
    for (const size of [65_536, 4_096]) {
      const block = Buffer.alloc(size, "x");
      try {
        for (;;) writeSync(filler, block);
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code !== "ENOSPC") throw fault;
      }
    }
    closeSync(filler);
    if (leaveBytes > 0) run("truncate", ["-s", `-${leaveBytes}`, join(this.path, "filler")]);
  }

  /** Gives the space back. */
  empty(): void {
    rmSync(join(this.path, "filler"), { force: true });
  }

  unmount(): void {
    run("umount", ["-l", this.path]);
  }
}

function whyNot(): string | undefined {
  if (process.platform !== "linux") return "a disk of a test's own is mounted on Linux only";
  if (process.getuid?.() !== 0) return "only root may mount a disk";
  const path = `/tmp/dibs-mount-${process.pid}`;
  mkdirSync(path, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path]);
  if (mounted.status === 0) spawnSync("umount", ["-l", path]);
  rmSync(path, { recursive: true, force: true });
  return mounted.status === 0 ? undefined : `mount says ${mounted.stderr?.toString().trim()}`;
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}
