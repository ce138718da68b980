// A worker with the client: claims task after task, keeps each lease in the background, and stops working on a task
// as soon as it may not be ours any more.
//
//   DIBS_URL=http://127.0.0.1:4747 DIBS_KEY=KEY npx tsx worker.ts
import { Dibs, isDibsError, WorkStopped } from "dibs/client";

const dibs = new Dibs({ url: process.env.DIBS_URL ?? "http://127.0.0.1:4747", key: process.env.DIBS_KEY ?? "" });

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

for await (const task of dibs.work({ labels: ["reports"], leaseSeconds: 120, signal: stop.signal })) {
  try {
    // What an earlier holder got done is not done again.
    const from = Number((task.record.checkpoint as { page?: number } | null)?.page ?? 0);
    for (let page = from; page < 10; page++) {
      // Whatever takes a signal stops with it: fetch, child processes, database drivers.
      await writePage(page, task.signal);
      await task.progress({ progress: { page, of: 10 }, checkpoint: { page: page + 1 } });
    }
    await task.complete({ pages: 10 });
  } catch (error) {
    // The loop gives the task back, or it is somebody else's already.
    if (task.signal.aborted || isDibsError(error, "lease_lost")) {
      console.error(`${task.id}: ${task.signal.reason instanceof WorkStopped ? task.signal.reason.message : error}`);
      continue;
    }
    await task.fail(String(error), { retry: true });
  }
}

async function writePage(page: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.log(`page ${page}`);
}
