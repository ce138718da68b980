// A process that never gives the store's lock a rest: it writes to the bare store without a pause until it is told to end.
import { open, operations } from "dibs";

const store = await open({ store: process.argv[2] });
const caller = { identity: { kind: "file", agent: `hammer-${process.pid}` } };
let writes = 0;
let over = false;
process.once("message", () => {
  over = true;
});
process.send("ready");
while (!over) {
  const labels = [`hammer-${process.pid}`];
  await store.call(operations.create_task, { content: "x", labels }, caller);
  const { body } = await store.call(operations.claim_next_task, { labels }, caller);
  await store.call(operations.complete_task, { task_id: body.task.id, lease_id: body.task.lease_id }, caller);
  writes += 3;
  // A store on the bare file works in this thread: let the message in.
  await new Promise((resolve) => setImmediate(resolve));
}
await store.close();
process.send(writes);
process.disconnect();
