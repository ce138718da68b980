import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { open } from "dibs";
import type { TestProject } from "vitest/node";
import { QUICK_DISK } from "./quick-disk.js";
import { StoreFile } from "./store-file.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A file with an empty store, to be copied: making one takes 25 ms of computing, and thousands of tests want one. */
    emptyFile: string;
  }
}

/** Made before the tests, gone after them. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(QUICK_DISK, "dibs-empty-"));
  const path = join(folder, "dibs.db");
  await (await open({ store: `sqlite:${path}` })).close();
  new StoreFile(path).exec("UPDATE clock SET last_ms = 0, offset_ms = 0, boot = '', uptime_ms = 0");
  project.provide("emptyFile", path);
  return () => rmSync(folder, { recursive: true, force: true });
}
