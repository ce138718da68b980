import { readConfig, storeOptions } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { usage } from "./failure.js";
import type { Output } from "./output.js";
import { cardLines } from "./shown/card.js";

/** Makes a workspace in the store itself: whoever may write there may do so (R45). Never over HTTP. */
export async function addWorkspace(name: string, output: Output): Promise<number> {
  const config = readConfig();
  if (config.url !== undefined) {
    throw usage("Workspaces are made on the store itself: unset DIBS_URL and run this with the server's DIBS_STORE.")
      .error;
  }
  const { open } = await import("../index.js");
  const store = await open({ ...storeOptions(config), thread: false });
  try {
    const made = await store.createWorkspace(name);
    const record = { name, workspace_id: made.workspaceId, agent_id: made.agentId, key: made.key };
    if (output.json) output.value(record);
    else output.data(cardLines(record, output.screen()));
    output.say("The key is shown this once; it is the workspace's admin.");
    return EXIT.ok;
  } finally {
    await store.close();
  }
}
