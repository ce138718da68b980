import { createInterface } from "node:readline";
import { readConfig } from "../config.js";
import { isDibsError } from "../contract/errors.js";
import { connect } from "./connect.js";
import { failureLines } from "./failure.js";
import type { Output } from "./output.js";
import { lasting } from "./shown/when.js";

const BEAT_MS = 1_000;

/**
 * One racer of the demo: says `ready`, waits for a line on stdin, claims the named task. The one that gets it keeps
 * its lease until it is killed; one that is refused says by whom and ends.
 */
export async function demoAgent(taskId: string, output: Output): Promise<number> {
  const connection = await connect(readConfig());
  try {
    const session = await connection.dibs.session({ client: "demo-agent" });
    const lines = createInterface({ input: process.stdin });
    output.data(["ready"]);
    await new Promise((resolve) => lines.once("line", resolve));
    // Nothing more is read: an open stdin would keep the process.
    process.stdin.destroy();
    const { task } = await session.claimTask({ task_id: taskId });
    output.data([`claimed it: fence ${task.fence}, the lease ends in ${lasting(task.lease_remaining_ms ?? 0)}`]);
    for (let beat = 1; ; beat++) {
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
      const proof = { task_id: taskId, lease_id: task.lease_id ?? undefined, fence: task.fence };
      const held = await session.heartbeatTask({ ...proof, progress: { step: beat } });
      output.data([`heartbeat ${beat}: ${lasting(held.lease_remaining_ms ?? 0)} left`]);
    }
  } catch (error) {
    if (!isDibsError(error)) throw error;
    output.data(failureLines(error, output.screen()));
    return error.exit;
  } finally {
    await connection.close();
  }
}
