import { readConfig, shownStore, storeOptions } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { usage } from "./failure.js";
import type { Output } from "./output.js";

/** Makes a store safe that was restored from a backup: whoever may write there may do so. Never over HTTP. */
export async function restored(store: string | undefined, output: Output): Promise<number> {
  const config = readConfig({ DIBS_STORE: store });
  if (config.url !== undefined) {
    throw usage("A restored store is made safe on the store itself: unset DIBS_URL, and set the server's DIBS_STORE.")
      .error;
  }
  const { open } = await import("../index.js");
  const opened = await open(storeOptions(config));
  try {
    const { leasesEnded, tasksLifted, fencesLiftedBy } = await opened.restored();
    if (output.json) {
      output.value({ leases_ended: leasesEnded, tasks_lifted: tasksLifted, fences_lifted_by: fencesLiftedBy });
    } else {
      const fences = `the fences of ${tasksLifted} tasks are ${fencesLiftedBy} higher`;
      output.data([`${shownStore(config.store)}: ${leasesEnded} leases were ended, ${fences}.`]);
    }
    return EXIT.ok;
  } finally {
    await opened.close();
  }
}
