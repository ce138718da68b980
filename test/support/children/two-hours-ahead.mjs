// Loaded before a server's own code, in each of its threads: this node's wall clock is two hours ahead.
import { threadId } from "node:worker_threads";

const AHEAD_MS = 2 * 3600 * 1000;
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...args) {
    if (args.length === 0) super(RightDate.now() + AHEAD_MS);
    else super(...args);
  }

  static now() {
    return RightDate.now() + AHEAD_MS;
  }
};
process.stderr.write(`thread ${threadId} is two hours ahead\n`);
