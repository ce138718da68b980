import { open, operations } from "dibs";
import { expect, test } from "vitest";
import { ScratchFolder } from "../support/scratch-folder.js";

test("once the engine's thread has ended, a call is refused and doesn't hang (R58)", async () => {
  const folder = new ScratchFolder();
  const store = await open({ store: `sqlite:${folder.file("dibs.db")}`, thread: true });
  await store.close();
  const caller = { identity: { kind: "file", agent: "tester" } } as const;
  const refused = { code: "store_unavailable" };
  await expect(store.call(operations.get_me, {}, caller)).rejects.toMatchObject(refused);
  await expect(store.call(operations.create_task, { content: "late" }, caller)).rejects.toMatchObject(refused);
  await expect(store.ping()).rejects.toMatchObject(refused);
  folder.remove();
});
