import { expect, inject, onTestFinished, test } from "vitest";
import { limit, rounds } from "../support/campaign.js";
import { Nodes } from "../support/nodes.js";
import { brokenInDatabase } from "../support/postgres.js";

const MINUTE_MS = 60_000;
const RECURRENCES = 5;

test(
  "three nodes that claim at one instant, just behind a tick, beside their housekeeping, make each tick's task once (R57)",
  async () => {
    const nodes = await Nodes.start({ url: inject("postgres") }, 3);
    onTestFinished(() => nodes.stop());
    const https = nodes.all.map((node) => node.client());
    onTestFinished(() => {
      for (const http of https) http.close();
    });
    const given = new Map<string, number>();
    const claimAll = async () => {
      const calls = https.flatMap((http) => Array.from({ length: 4 }, () => http.post("/v1/tasks/claim", {})));
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      const tasks = answers.flatMap(({ body }) => body.task ?? []);
      for (const { id } of tasks) given.set(id, (given.get(id) ?? 0) + 1);
      // Before its lease could end: the clock goes on by minutes.
      await Promise.all(tasks.map(({ id, lease_id }) => https[0]?.post(`/v1/tasks/${id}/complete`, { lease_id })));
      return tasks.length;
    };
    for (let nth = 0; nth < RECURRENCES; nth += 1) {
      const made = { name: `r${nth}`, content: "look", cron: "* * * * *" };
      expect((await https[nth % 3]?.post("/v1/recurrences", made))?.status).toBe(201);
    }
    const jumps = rounds(10, 200);
    for (let jump = 0; jump < jumps; jump += 1) {
      await nodes.rows(`UPDATE clock SET offset_ms = offset_ms + ${2 * MINUTE_MS}`);
      await claimAll();
    }
    while ((await claimAll()) > 0);

    const ticks = await nodes.rows<{ recurrence_id: string; tick_at: number; n: number }>(
      "SELECT recurrence_id, tick_at, count(*)::int AS n FROM tasks GROUP BY 1, 2",
    );
    expect(ticks.filter(({ n }) => n > 1)).toEqual([]);
    expect(ticks.length).toBeGreaterThanOrEqual(jumps * RECURRENCES);
    expect([...given.values()].filter((times) => times > 1)).toEqual([]);
    expect(given.size).toBe(ticks.length);
    const [events] = await nodes.rows<{ n: number }>(
      "SELECT count(*)::int AS n FROM events WHERE type = 'task.created'",
    );
    expect(events?.n).toBe(ticks.length);
    expect(await brokenInDatabase(nodes.database)).toEqual([]);
  },
  limit(120_000),
);
