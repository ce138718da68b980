import { once } from "node:events";
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { readConfig, shownStore } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { usage } from "./failure.js";
import { fileFault } from "./given-file.js";
import type { Output } from "./output.js";

/** Writes everything the store holds to a file that only its owner can read, or to stdout. Never over HTTP. */
export async function exportTo(flags: { store: string | undefined; file: string }, output: Output): Promise<number> {
  const store = ownStore(flags.store, "exported");
  const { exportStore } = await import("../index.js");
  const toFile = flags.file !== "-";
  const target = toFile ? createWriteStream(flags.file, { mode: 0o600, flags: "wx" }) : process.stdout;
  const broken = once(target, "error").then(([fault]) => Promise.reject(fault));
  broken.catch(() => {});
  const write = async (line: string) => {
    if (!target.write(`${line}\n`)) await Promise.race([once(target, "drain"), broken]);
  };
  const exporting = async () => {
    const { records } = await Promise.race([exportStore(store, write), broken]);
    if (!toFile) return records;
    target.end();
    await finished(target);
    return records;
  };
  let opened = !toFile;
  target.once("open", () => {
    opened = true;
  });
  const records = await exporting().catch((fault) => {
    // A part of an export is none, and would stand in the way of the next; what was there before is not ours.
    if (toFile && opened) rmSync(flags.file, { force: true });
    throw fileFault("written", fault);
  });
  const told = { store: shownStore(store), file: flags.file, records };
  if (output.json && toFile) output.value(told);
  else output.say(`${told.store}: ${records} records were exported${toFile ? ` to ${flags.file}` : ""}.`);
  return EXIT.ok;
}

/** Fills a new store with an export, all or nothing. */
export async function importFrom(flags: { store: string | undefined; file: string }, output: Output): Promise<number> {
  const store = ownStore(flags.store, "imported");
  const { importStore } = await import("../index.js");
  const lines = () =>
    createInterface({
      input: flags.file === "-" ? process.stdin : createReadStream(flags.file),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
  const { records } = await importStore(store, lines).catch((fault) => {
    throw fileFault("read", fault);
  });
  const told = { store: shownStore(store), file: flags.file, records };
  if (output.json) output.value(told);
  else
    output.data([
      `${told.store} has the ${records} records of ${flags.file}. The store they came from must not go on.`,
    ]);
  return EXIT.ok;
}

function ownStore(flag: string | undefined, what: string): string {
  const { store, url } = readConfig({ DIBS_STORE: flag });
  if (url === undefined) return store;
  throw usage(`A store is ${what} by itself: unset DIBS_URL and run this with the server's DIBS_STORE.`).error;
}
