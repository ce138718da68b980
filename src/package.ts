import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The path of a file of this package, as `dist/cli/main.js`. Only here and in `engine-host.ts` does it matter where the
 * running code lies: one folder deep, in `src/` as in `dist/`, whose chunks lie flat.
 */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** The package's version, as its own package.json says. */
export function version(): string {
  return (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;
}
