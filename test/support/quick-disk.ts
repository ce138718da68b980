import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

/** The rules don't depend on the disk: a folder in memory where the system has one, so that a commit costs little. */
export const QUICK_DISK = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
