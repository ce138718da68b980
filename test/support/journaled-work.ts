import { expect } from "vitest";
import type { Journal } from "./journal.js";
import type { RawAnswer, RawHttp } from "./raw-http.js";

/** How one client makes its calls, and what it waits for before it repeats one that got no answer. */
export interface Journaled {
  readonly client: number;
  readonly journal: Journal;
  /** Asked for each attempt: after a lost answer it may name another server. */
  readonly http: () => RawHttp;
  readonly again: () => Promise<void>;
}

/** Claims until there is nothing: completes two of three, lets go of the third under its first fences. */
export async function drain({ client, journal, http, again }: Journaled): Promise<void> {
  const session = await openSession(client, http, again);
  const bound = {
    post: (path: string, body: object, options: object) => http().post(path, body, { ...options, session }),
  };
  const call = (path: string, body: object) => journal.call(client, bound as unknown as RawHttp, path, body, again);
  for (;;) {
    const { status, body } = await call("/v1/tasks/claim", {});
    expect([status, body.code]).toEqual([200, undefined]);
    if (body.task === null) break;
    const { id, lease_id, fence } = body.task;
    if (fence % 3 === 0) await call(`/v1/tasks/${id}/release`, { lease_id, fence });
    else {
      const done = await call(`/v1/tasks/${id}/complete`, { lease_id, fence, result: { client, lease_id } });
      expect([done.status, done.body.status]).toEqual([200, "completed"]);
    }
  }
}

/** May leave one behind when its answer is lost; the one that counts is the one that was told. */
async function openSession(client: number, http: () => RawHttp, again: () => Promise<void>): Promise<string> {
  for (;;) {
    const answer = await http()
      .post("/v1/sessions", { client: `client ${client}` })
      .catch(() => undefined);
    if (answer?.status === 201) return answer.body.id;
    await again();
  }
}

/** What the store says of a task after the work. */
export interface TaskRecord {
  readonly id: string;
  readonly status: string;
  readonly fence: number;
  readonly result: string | null;
}

export const TASK_RECORDS =
  "SELECT t.id, t.status, t.fence, x.result FROM tasks t JOIN task_texts x ON x.seq = t.seq ORDER BY t.seq";
export const CLAIM_EVENTS = "SELECT count(*) AS n FROM events WHERE type = 'task.claimed'";

/** Compares what the clients were told with what the store has now, where all work is done. */
export function checkTruth(journal: Journal, rows: readonly TaskRecord[], claimEvents: number): void {
  const tasks = new Map(rows.map((row) => [row.id, row]));
  const fencesSeen = new Map<string, Set<number>>();
  for (const { path, body, answer } of journal.entries) {
    const { status, body: said } = answer as RawAnswer;
    expect(status).toBe(200);
    const task = tasks.get(said.task?.id ?? said.id);
    if (path === "/v1/tasks/claim" && said.task !== null) {
      // One grant a fence: nobody else was told that it holds the task under the same one.
      const seen = fencesSeen.get(said.task.id) ?? new Set();
      expect(seen.has(said.task.fence)).toBe(false);
      fencesSeen.set(said.task.id, seen.add(said.task.fence));
      expect(task?.fence).toBeGreaterThanOrEqual(said.task.fence);
    }
    if (path.endsWith("/complete")) {
      expect(task?.status).toBe("completed");
      expect(JSON.parse(task?.result ?? "null")).toEqual((body as { result: unknown }).result);
    }
  }
  expect(claimEvents).toBe(rows.reduce((sum, row) => sum + row.fence, 0));
  // Every grant in the store was told to somebody: a call repeated with its key had one effect.
  const told = [...fencesSeen.values()].reduce((sum, seen) => sum + seen.size, 0);
  const ours = rows.filter((row) => fencesSeen.has(row.id)).reduce((sum, row) => sum + row.fence, 0);
  expect(told).toBe(ours);
  expect(rows.filter((row) => row.status !== "completed")).toEqual([]);
}
