import { open } from "dibs";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { limit, measured, rounds } from "../support/campaign.js";
import { Nodes } from "../support/nodes.js";
import type { RawHttp } from "../support/raw-http.js";

const WRITERS = 8;
const TASKS = rounds(20, 400);
const READERS = 3;

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly task_id: string | null;
}

/** What a reader has read so far; it outlives the node it reads from. */
class Reader {
  readonly seen: Seen[] = [];
  #over = false;

  constructor(
    readonly http: RawHttp,
    readonly pageMax: number,
  ) {}

  /** Reads on from its cursor until it was told that all is written and has read to the end. */
  async read(): Promise<void> {
    for (;;) {
      const last = this.#over;
      const after = this.seen.at(-1)?.id ?? "0";
      const answer = await this.http.get(`/v1/events?after=${after}&limit=${this.pageMax}`).catch(() => undefined);
      // A node that was killed, or has just started, gives no page: the cursor stays where it is.
      if (answer?.status !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
      else this.seen.push(...answer.body);
      if (last && answer?.status === 200 && answer.body.length === 0) return;
    }
  }

  /** All is written. */
  finish(): void {
    this.#over = true;
  }
}

describe("readers of the log at three nodes, under 8 writers at all of them", () => {
  let nodes: Nodes;

  beforeEach(async () => {
    nodes = await Nodes.start({ url: inject("postgres") }, 3);
  });
  afterEach(() => nodes.stop());

  test(
    "miss nothing and repeat nothing, in pages of any size, beside another workspace's events (R50)",
    async () => {
      const readers = readersAt((at) => nodes.node(at).client(), READERS);
      const elsewhere = await otherWorkspace();
      const others = readersAt((at) => nodes.node(at).client(elsewhere), 2);
      const startedAt = performance.now();
      const writing = [
        ...Array.from({ length: WRITERS }, (_, at) => write(nodes.node(at).client(), at)),
        ...Array.from({ length: 3 }, (_, at) => write(nodes.node(at).client(elsewhere), 100 + at)),
      ];
      const reading = [...readers, ...others].map((reader) => reader.read());
      await Promise.all(writing);
      for (const reader of [...readers, ...others]) reader.finish();
      await Promise.all(reading);
      const all = await logOf("default");
      expect(all.length).toBeGreaterThanOrEqual(WRITERS * TASKS * 3);
      for (const reader of readers) expect(reader.seen.map(({ id }) => id)).toEqual(all);
      for (const reader of others) expect(reader.seen.map(({ id }) => id)).toEqual(await logOf("elsewhere"));
      const perSecond = Math.round((all.length * 1_000) / (performance.now() - startedAt));
      measured("events under 8 writers on 3 nodes", { events: all.length, readers: READERS, perSecond });
    },
    limit(60_000),
  );

  test(
    "go on from their cursors after their node was killed and started again, or at another node (R50)",
    async () => {
      const readers = readersAt((at) => nodes.node(at).client(), READERS);
      // Writers keep to the nodes that live.
      const writing = Promise.all(
        Array.from({ length: WRITERS }, (_, at) => write(nodes.node(1 + (at % 2)).client(), at)),
      );
      const reading = readers.map((reader) => reader.read());
      await untilSeen(readers[0] as Reader, 20);
      await nodes.node(0).kill();
      await nodes.node(0).restart();
      await writing;
      const moved = new Reader(nodes.node(2).client(), 50);
      moved.seen.push(...(readers[0] as Reader).seen.slice(0, 20));
      for (const reader of [...readers, moved]) reader.finish();
      await Promise.all([...reading, moved.read()]);
      const all = await logOf("default");
      for (const reader of [...readers, moved]) expect(reader.seen.map(({ id }) => id)).toEqual(all);
    },
    limit(60_000),
  );

  /** With pages of a few events, and of many. */
  function readersAt(client: (at: number) => RawHttp, count: number): Reader[] {
    return Array.from({ length: count }, (_, at) => new Reader(client(at), [7, 100, 2][at % 3] as number));
  }

  async function otherWorkspace(): Promise<string> {
    const store = await open({ store: nodes.database });
    const { key } = await store.createWorkspace("elsewhere");
    await store.close();
    return key;
  }

  async function logOf(workspace: string): Promise<string[]> {
    const rows = await nodes.rows<{ id: number }>(
      `SELECT e.id FROM events e JOIN workspaces w ON w.id = e.workspace_id WHERE w.name = '${workspace}' ORDER BY e.id`,
    );
    return rows.map(({ id }) => String(id));
  }
});

/** A task after another: made, claimed, completed; each step an event. */
async function write(http: RawHttp, writer: number): Promise<void> {
  const labels = [`writer-${writer}`];
  for (let at = 0; at < TASKS; at++) {
    expect((await http.post("/v1/tasks", { content: `task ${at} of ${writer}`, labels })).status).toBe(201);
    const { task } = (await http.post("/v1/tasks/claim", { labels })).body;
    const proof = { lease_id: task.lease_id, fence: task.fence };
    expect((await http.post(`/v1/tasks/${task.id}/complete`, proof)).status).toBe(200);
  }
  http.close();
}

async function untilSeen(reader: Reader, count: number): Promise<void> {
  while (reader.seen.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
}
