import { open } from "dibs";
import { expect, onTestFinished, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

test("a lapsed lease is put on record within two seconds though nobody calls, once, with two servers there (R12)", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  for (let nth = 0; nth < 2; nth += 1) {
    const server = await open({ store: fresh.kept.url, thread: true, tends: true });
    onTestFinished(() => server.close());
  }
  await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
  const ann = await fresh.worker("ann");
  const { id } = await fresh.task();
  await fresh.claim(id, ann, { lease_seconds: 1 });
  // Only reads from here on: they change nothing.
  await expect.poll(() => fresh.history(id), { timeout: 5_000 }).toContain("lease.expired");
  const lapses = (await fresh.history(id)).filter((type) => type === "lease.expired");
  expect(lapses).toHaveLength(1);
  expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, lapsed: true });
});
