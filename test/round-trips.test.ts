import { open, operations } from "dibs";
import type { OperationName } from "dibs/contract";
import pg from "pg";
import { expect, inject, test, vi } from "vitest";
import { FakeTime } from "./support/fake-time.js";
import { byKey } from "./support/fresh-store.js";
import { freshDatabase } from "./support/postgres.js";

test("a hundred tasks made or claimed by one call cost a database a handful of statements, not a hundred", async () => {
  const { url, drop } = await freshDatabase(inject("postgres"));
  const store = await open({ store: url, time: new FakeTime() });
  const admin = byKey((await store.ensureAdmin()).key ?? "");
  const sent = vi.spyOn(pg.Client.prototype, "query");
  const statementsOf = async (name: OperationName, input: object) => {
    sent.mockClear();
    const { body } = await store.call(operations[name], input as never, admin);
    return { statements: sent.mock.calls.length, tasks: body };
  };
  try {
    const tasks = Array.from({ length: 100 }, (_, at) => ({ content: `task ${at}` }));
    await statementsOf("create_task", { content: "the first" });
    const made = await statementsOf("create_tasks", { tasks });
    expect(made.tasks).toHaveLength(100);
    // They took 117 and 511 when each task was looked up, and read, alone.
    expect(made.statements).toBeLessThan(30);
    const claimed = await statementsOf("claim_next_task", { count: 100 });
    expect((claimed.tasks as unknown as { tasks: unknown[] }).tasks).toHaveLength(100);
    expect(claimed.statements).toBeLessThan(40);
  } finally {
    sent.mockRestore();
    await store.close();
    await drop();
  }
});
