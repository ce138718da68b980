import { readConfig, shownStore } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { usage } from "./failure.js";
import type { Output } from "./output.js";

/** Brings the store's schema up to date, or with `check` only says whether that is needed (exit status 4 if it is). */
export async function migrate(flags: { store: string | undefined; check: boolean }, output: Output): Promise<number> {
  const { store, url } = readConfig({ DIBS_STORE: flags.store });
  if (url !== undefined) {
    throw usage("Schemas are the store's own: unset DIBS_URL and run this with the server's DIBS_STORE.").error;
  }
  const { migrateStore, schemaOf } = await import("../index.js");
  const shown = shownStore(store);
  if (flags.check) {
    const { version, known } = await schemaOf(store);
    const current = version >= known;
    if (output.json) output.value({ store: shown, version, needed: known, current });
    else if (current) output.data([`The schema of ${shown} is current (version ${version}).`]);
    else output.data([`The schema of ${shown} is version ${version}, this Dibs needs ${known}: run dibs migrate.`]);
    return current ? EXIT.ok : EXIT.conflict;
  }
  const { from, to } = await migrateStore(store);
  if (output.json) output.value({ store: shown, from, to });
  else if (from === to) output.data([`The schema of ${shown} was current already (version ${to}).`]);
  else output.data([`The schema of ${shown} went from version ${from} to ${to}.`]);
  return EXIT.ok;
}
