import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type OpenStore, open, operations } from "dibs";
import type { Caller, OperationName, Operations } from "dibs/contract";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import type { z } from "zod";
import { openDriver } from "../src/store/driver.js";
import { freshDatabase, query } from "./support/postgres.js";
import { QUICK_DISK } from "./support/quick-disk.js";

/** A store that can be backed up as its operator would, and put back to what it was then. */
interface Restorable {
  readonly url: string;
  backUp(): Promise<void>;
  restore(): Promise<void>;
}

async function sqlite(): Promise<Restorable> {
  const folder = mkdtempSync(join(QUICK_DISK, "dibs-restored-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "dibs.db");
  return {
    url: `sqlite:${file}`,
    async backUp() {
      const driver = openDriver(file);
      driver.exec(`VACUUM INTO '${file}.backup'`);
      driver.close();
    },
    async restore() {
      for (const part of ["", "-wal", "-shm"]) rmSync(file + part, { force: true });
      copyFileSync(`${file}.backup`, file);
    },
  };
}

async function postgres(): Promise<Restorable> {
  const server = inject("postgres");
  const { url, drop } = await freshDatabase(server);
  const name = new URL(url).pathname.slice(1);
  onTestFinished(async () => {
    await drop();
    await query(server, `DROP DATABASE ${name}_backup WITH (FORCE)`);
  });
  return {
    url,
    backUp: async () => void (await query(server, `CREATE DATABASE ${name}_backup TEMPLATE ${name}`)),
    async restore() {
      await query(server, `DROP DATABASE ${name} WITH (FORCE)`);
      await query(server, `CREATE DATABASE ${name} TEMPLATE ${name}_backup`);
    },
  };
}

type Input<N extends OperationName> = z.input<Operations[N]["input"]>;
type Body<N extends OperationName> = z.output<Operations[N]["output"]>;

/** Somebody at work on the open store. */
class Worker {
  constructor(
    readonly store: OpenStore,
    readonly agent: string,
  ) {}

  async ask<N extends OperationName>(name: N, input: Input<N>): Promise<Body<N>> {
    const caller: Caller = { identity: { kind: "file", agent: this.agent } };
    return (await this.store.call(operations[name], input as never, caller)).body as Body<N>;
  }

  task(content: string) {
    return this.ask("create_task", { content });
  }

  async claim(id: string) {
    const { task } = await this.ask("claim_task", { task_id: id });
    if (!task?.lease_id) throw new Error("Nothing was granted.");
    return task;
  }

  /** Claims the task and gives it back; the fence it had. */
  async fenceOf(id: string): Promise<number> {
    const { fence } = await this.claim(id);
    await this.ask("release_task", { task_id: id });
    return fence as number;
  }
}

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])("a store on %s that was restored from a backup", (_name, make) => {
  test("gives fences above all that were ever given, once its owner says so (R4)", async () => {
    const under = await make();
    const { before, after } = await lostTime(
      under,
      async (ann) => {
        const { id } = await ann.task("claimed before the backup, and after it");
        const other = await ann.task("claimed only after it");
        await ann.fenceOf(id);
        return [id, other.id];
      },
      async (ann, ids) => Promise.all(ids.map(async (id) => [await ann.fenceOf(id), await ann.fenceOf(id)])),
    );
    expect(after).toEqual([
      [2, 3],
      [1, 2],
    ]);

    const store = await opened(under);
    const ann = new Worker(store, "ann");
    expect(await store.restored()).toEqual({ leasesEnded: 0, tasksLifted: 2, fencesLiftedBy: 1_000_000 });
    expect(await ann.fenceOf(before[0] as string)).toBe(1_000_002);
    expect(await ann.fenceOf(before[1] as string)).toBe(1_000_001);
    // Safe to repeat.
    await store.restored();
    expect(await ann.fenceOf(before[0] as string)).toBe(2_000_003);
  });

  test("gives such fences for names, too, also where the first was granted after the backup (R4, R43)", async () => {
    const under = await make();
    const scopes = ["path:a", "source:feed"];
    const { after } = await lostTime(
      under,
      (ann) => ann.task("there"),
      async (ann) => (await ann.ask("claim_scopes", { scopes, intent: "x" })).claims.map(({ fence }) => fence),
    );
    expect(Math.max(...(after ?? []))).toBeLessThan(1_000_000);
    const store = await opened(under);
    await store.restored();
    const { claims } = await new Worker(store, "ann").ask("claim_scopes", { scopes, intent: "x" });
    for (const { fence } of claims) expect(fence).toBeGreaterThan(1_000_000);
  });

  test("ends every lease it brings back, at nobody's cost, and tells their holders (R3, R54)", async () => {
    const under = await make();
    const { before } = await lostTime(under, async (ann) => {
      const held = await ann.claim((await ann.task("held")).id);
      const doomed = await ann.claim((await ann.task("its cancellation was asked for")).id);
      const lead = new Worker(ann.store, "lead");
      await lead.ask("cancel_task", { task_id: doomed.id, reason: "no use" });
      return { held, doomed };
    });

    const store = await opened(under);
    const ann = new Worker(store, "ann");
    expect(await store.restored()).toMatchObject({ leasesEnded: 2 });
    expect(await ann.ask("list_claims", {})).toEqual([]);
    expect(await ann.ask("get_task", { task_id: before.held.id })).toMatchObject({
      status: "open",
      ready: true,
      attempts: 0,
    });
    expect(await ann.ask("get_task", { task_id: before.doomed.id })).toMatchObject({ status: "cancelled" });
    await expect(
      ann.ask("complete_task", { task_id: before.held.id, lease_id: before.held.lease_id as string }),
    ).rejects.toMatchObject({ code: "lease_lost", details: { reason: "revoked" } });
    const history = await ann.ask("get_task_history", { task_id: before.held.id });
    const [released] = history.filter(({ type }) => type === "task.released");
    expect(released?.data).toMatchObject({
      lease_id: before.held.lease_id,
      fence: 1,
      forced: true,
      reason: "the store was restored from a backup",
    });
    const [session] = await ann.ask("list_sessions", {});
    const { notices } = await ann.ask("get_session", { session_id: session?.id as string });
    expect(notices?.filter(({ type }) => type === "lease.lost")).toHaveLength(2);
    expect((await ann.claim(before.held.id)).fence).toBe(1_000_002);
  });

  test("its readers of events miss nothing, though their cursors are of the lost time (R50)", async () => {
    const under = await make();
    const { after: cursor } = await lostTime(
      under,
      (ann) => ann.task("kept"),
      async (ann) => {
        for (let nth = 0; nth < 20; nth += 1) await ann.task("lost");
        return (await ann.ask("list_events", { newest: true, limit: 1 }))[0]?.id as string;
      },
    );
    const store = await opened(under);
    await store.restored();
    const ann = new Worker(store, "ann");
    const { id } = await ann.task("new");
    await ann.claim(id);
    const events = await ann.ask("list_events", { after: cursor });
    expect(events.map(({ type }) => type)).toEqual(["store.restored", "task.created", "task.claimed"]);
  });
});

/** What was before the backup, and what happened after it and is lost; both as the callbacks answer. */
async function lostTime<B, A>(
  under: Restorable,
  before: (ann: Worker) => Promise<B>,
  after?: (ann: Worker, kept: B) => Promise<A>,
): Promise<{ before: B; after: A | undefined }> {
  const first = await open({ store: under.url });
  const kept = await before(new Worker(first, "ann"));
  await first.close();
  await under.backUp();
  const second = await open({ store: under.url });
  const lost = await after?.(new Worker(second, "ann"), kept);
  await second.close();
  await under.restore();
  return { before: kept, after: lost };
}

async function opened(under: Restorable): Promise<OpenStore> {
  const store = await open({ store: under.url });
  onTestFinished(() => store.close());
  return store;
}
