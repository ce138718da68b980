import { open } from "dibs";
import { expect, onTestFinished, test } from "vitest";
import { Engines } from "../../src/core/engine/engines.js";
import type { Beat } from "../../src/core/engine/tending.js";
import { openStore } from "../../src/store/open.js";
import { ON_SQLITE } from "../support/any-store.js";
import { FreshStore } from "../support/fresh-store.js";

/** A server's engines on the store, which look when the test says so. */
class Server {
  readonly faults: string[] = [];
  #look = async () => {};

  private constructor(readonly engines: Engines) {}

  static async on(fresh: FreshStore): Promise<Server> {
    const server = new Server(new Engines(await openStore(fresh.kept.url, { time: fresh.time }), () => {}));
    onTestFinished(() => server.engines.close());
    const beat: Beat = (look) => {
      server.#look = look;
      return () => {};
    };
    server.engines.tend((cause) => server.faults.push(cause), beat);
    return server;
  }

  look(): Promise<void> {
    return this.#look();
  }
}

/** Only reads from here on are made by others: they change nothing. */
async function heldFor(seconds: number) {
  const fresh = await FreshStore.open();
  const ann = await fresh.worker("ann");
  const { id } = await fresh.task();
  await fresh.claim(id, ann, { lease_seconds: seconds });
  const lapses = async () => (await fresh.history(id)).filter((type) => type === "lease.expired").length;
  return { fresh, id, lapses };
}

test("a lapsed lease is put on record though nobody calls, once, with two servers there (R12)", async () => {
  const { fresh, id, lapses } = await heldFor(30);
  const servers = [await Server.on(fresh), await Server.on(fresh)];
  const look = async () => {
    for (const server of servers) await server.look();
  };
  fresh.time.pass(29_999);
  await look();
  expect(await lapses()).toBe(0);
  fresh.time.pass(1);
  await look();
  expect(await lapses()).toBe(1);
  expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, lapsed: true });
  fresh.time.pass(60_000);
  await look();
  expect(await lapses()).toBe(1);
  expect(servers.flatMap(({ faults }) => faults)).toEqual([]);
});

test("a fault in it is told once, however often it comes, and what is due is done once it is gone", async () => {
  const { fresh, lapses } = await heldFor(30);
  const server = await Server.on(fresh);
  fresh.time.pass(30_000);
  // Who held it is told by a notice.
  await fresh.kept.exec("ALTER TABLE notices RENAME TO notices_gone");
  try {
    for (let nth = 0; nth < 3; nth += 1) await server.look();
    expect(await lapses()).toBe(0);
    expect(server.faults).toEqual([expect.stringContaining("notices")]);
  } finally {
    await fresh.kept.exec("ALTER TABLE notices_gone RENAME TO notices");
  }
  await server.look();
  expect(await lapses()).toBe(1);
  expect(server.faults).toHaveLength(1);
});

test("a store that is away is no fault of ours", async () => {
  const { fresh } = await heldFor(30);
  const server = await Server.on(fresh);
  await server.engines.close();
  await server.look();
  expect(server.faults).toEqual([]);
});

test.skipIf(ON_SQLITE)(
  "a table that the planner believes empty while it is full is analyzed, and only that",
  async () => {
    const fresh = await FreshStore.open();
    const server = await Server.on(fresh);
    const believed = () =>
      fresh.kept.rows<{ name: string; rows: number }>(
        "SELECT relname AS name, reltuples AS rows FROM pg_class WHERE relname IN ('secrets', 'versions') ORDER BY 1",
      );
    // As an ANALYZE leaves it that runs while another transaction fills the table.
    const asEmpty = "UPDATE pg_class SET relpages = 10, reltuples = 0 WHERE relname IN ('secrets', 'versions')";
    await fresh.kept.exec(
      `INSERT INTO secrets SELECT n, 'token', '${fresh.root.id}', ${Number.MAX_SAFE_INTEGER} FROM generate_series(1, 5000) n`,
    );
    await fresh.kept.exec(`${asEmpty}; SELECT pg_stat_force_next_flush()`);
    await server.look();
    expect(await believed()).toEqual([
      { name: "secrets", rows: 5000 },
      { name: "versions", rows: 0 },
    ]);
    expect(server.faults).toEqual([]);
  },
);

test("a server's engine does it of its own accord, and its faults reach whoever opened it", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  const faults: string[] = [];
  const { id } = await fresh.task();
  await fresh.claim(id, await fresh.worker("ann"));
  await fresh.kept.exec("ALTER TABLE notices RENAME TO notices_gone; UPDATE clock SET offset_ms = 300000");
  try {
    const onFault = (work: string) => faults.push(work);
    const server = await open({ store: fresh.kept.url, thread: true, tends: true, onFault });
    onTestFinished(() => server.close());
    await expect.poll(() => faults, { timeout: 10_000 }).toEqual(["housekeeping"]);
  } finally {
    await fresh.kept.exec("ALTER TABLE notices_gone RENAME TO notices");
  }
  await expect.poll(() => fresh.history(id), { timeout: 10_000 }).toContain("lease.expired");
});
