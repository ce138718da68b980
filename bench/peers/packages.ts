import { readFileSync } from "node:fs";

const folder = new URL("../../peers/", import.meta.url);

/** A package of bench/peers/node_modules. `T` is what the caller uses of it. */
export async function load<T>(name: string): Promise<T> {
  const { load } = (await import(new URL("load.mjs", folder).href)) as { load(name: string): Promise<T> };
  return load(name);
}

/** The exact version in bench/peers/package.json. */
export function versionOf(name: string): string {
  const { dependencies } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  return dependencies[name];
}
