import { pause, systemClock } from "../client/clock.js";
import type { Output as Body, Dibs, Input } from "../client/dibs.js";
import { readConfig } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { connect } from "./connect.js";
import type { Output } from "./output.js";
import { columnsFor } from "./shown/rows.js";
import { tableLines } from "./shown/table.js";

const EVERY_MS = 500;
const PAGE = 1000;

/**
 * Prints events as they happen, until interrupted: from now on, or after the event named. With `json` one JSON value
 * a line.
 */
export async function followEvents(input: Input<"list_events">, output: Output): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const connection = await connect(readConfig(), { lasting: true });
  const { dibs } = connection;
  try {
    let after = input.after ?? (await lastId(dibs));
    output.say("Following events; Ctrl-C ends it.");
    while (!stop.signal.aborted) {
      const page = await dibs.listEvents({ ...input, after, limit: PAGE });
      print(page, output);
      after = page.at(-1)?.id ?? after;
      if (page.length < PAGE) await pause(systemClock, EVERY_MS, stop.signal).catch(() => undefined);
    }
    return EXIT.interrupted;
  } finally {
    await connection.close();
  }
}

/** The newest event there is, so that following starts now. */
async function lastId(dibs: Dibs): Promise<string> {
  return (await dibs.listEvents({ newest: true, limit: 1 }))[0]?.id ?? "0";
}

function print(page: Body<"list_events">, output: Output): void {
  if (output.json) for (const event of page) output.value(event);
  else if (page.length > 0) output.data(tableLines(columnsFor.event, page, output.screen()).slice(1));
}
