import { open, operations } from "dibs";
import { expect, test } from "vitest";
import { GatedProcess, startTogether } from "../support/barrier.js";
import { limit, rounds } from "../support/campaign.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { DIBS, ownEnvironment, ServerProcess } from "../support/server-process.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

const MINUTE_MS = 60_000;
const CALLER = { identity: { kind: "file", agent: "boss" } } as const;

test.each([false, true])(
  "processes on one file that claim at one instant, just behind a tick, find its task once; with a server there: %s (R56)",
  async (withServer) => {
    const folder = ScratchFolder.onDisk();
    const url = `sqlite:${folder.file("dibs.db")}`;
    const server = withServer ? await ServerProcess.start({ store: url }) : undefined;
    try {
      const store = await open({ store: url });
      const made = { name: "minutely", content: "look", cron: "* * * * *" };
      const recurrence = (await store.call(operations.create_recurrence, made, CALLER)).body;
      await store.close();
      const file = new StoreFile(folder.file("dibs.db"));
      for (let round = 0; round < rounds(3, 20); round += 1) {
        const claims = Array.from({ length: 6 }, (_, at) => {
          const env = ownEnvironment({ DIBS_STORE: url, DIBS_AGENT: `agent-${at}` });
          return new GatedProcess([DIBS, "task", "claim", "--lease-seconds", "3600", "--json"], env);
        });
        await Promise.all(claims.map(({ ready }) => ready));
        // The file's clock goes to a minute that is new to everybody.
        file.exec(`UPDATE clock SET offset_ms = offset_ms + ${2 * MINUTE_MS}`);
        await startTogether(claims);
        const ends = await Promise.all(claims.map(({ finished }) => finished));
        const got = ends.flatMap(({ stdout }) => JSON.parse(stdout).task ?? []);
        expect(ends.filter(({ exit }) => exit !== 0 && exit !== 3)).toEqual([]);
        expect(got.filter((task) => task.recurrence_id !== recurrence.id)).toEqual([]);
        // A minute more may have begun while they ran.
        expect([1, 2]).toContain(got.length);
      }
      const ticks = file.rows<{ tick_at: number }>("SELECT tick_at FROM tasks ORDER BY tick_at");
      expect(new Set(ticks.map(({ tick_at }) => tick_at)).size).toBe(ticks.length);
      expect(ticks.length).toBeGreaterThanOrEqual(rounds(3, 20));
      expect(file.rows("SELECT 1 FROM events WHERE type = 'task.created'")).toHaveLength(ticks.length);
      expect(brokenIn(file)).toEqual([]);
    } finally {
      await server?.stop();
      folder.remove();
    }
  },
  limit(60_000),
);
