import { openDriver, type SqlValue } from "../../src/store/driver.js";

/** Looks into a store's file past Dibs, and moves its clock: what no caller of Dibs can do. */
export class StoreFile {
  constructor(readonly path: string) {}

  rows<T = Record<string, SqlValue>>(sql: string, ...params: SqlValue[]): T[] {
    return this.#with((driver) => driver.prepare(sql).all(...params) as T[]);
  }

  run(sql: string, ...params: SqlValue[]): void {
    this.#with((driver) => driver.prepare(sql).run(...params));
  }

  /** Shifts the clock that decides, for every process on the file (R2). */
  moveClock(offsetMs: number): void {
    this.run("UPDATE clock SET offset_ms = ? WHERE id = 1", offsetMs);
  }

  #with<T>(work: (driver: ReturnType<typeof openDriver>) => T): T {
    const driver = openDriver(this.path);
    try {
      driver.exec("PRAGMA busy_timeout = 10000");
      return work(driver);
    } finally {
      driver.close();
    }
  }
}

interface TaskLine {
  readonly seq: number;
  readonly id: string;
  readonly status: string;
  readonly queue: number | null;
  readonly fence: number;
  readonly lease_id: string | null;
  readonly holder_session: string | null;
  readonly closed_by: string | null;
  readonly closed_at: number | null;
  readonly attempts: number;
}
interface EventLine {
  readonly id: number;
  readonly type: string;
  readonly task_id: string;
  readonly data: string;
}

/** What each event of a task leaves it as. */
const AFTER: Readonly<Record<string, string>> = {
  "task.created": "open",
  "task.claimed": "claimed",
  "task.released": "open",
  "lease.expired": "open",
  "task.retried": "open",
  "task.reopened": "open",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.cancelled": "cancelled",
};

/**
 * Everything that must hold of a store's file at any time, whatever happened to the processes (C55): the file is whole;
 * a task is claimed exactly when it has one holder; each state has its event; events have no gap; fences grow by one.
 * Returns what is broken, one sentence each.
 */
export function brokenIn(file: StoreFile): string[] {
  const broken: string[] = [];
  const [check] = file.rows<{ integrity_check: string }>("PRAGMA integrity_check");
  if (check?.integrity_check !== "ok") broken.push(`integrity_check says ${check?.integrity_check}`);
  for (const row of file.rows("PRAGMA foreign_key_check")) broken.push(`foreign key of ${JSON.stringify(row)}`);
  const events = file.rows<EventLine>("SELECT id, type, task_id, data FROM events ORDER BY id");
  events.forEach(({ id }, at) => {
    const before = events[at - 1]?.id;
    if (before !== undefined && id !== before + 1) broken.push(`events jump from ${before} to ${id}`);
  });
  const byTask = new Map<string, EventLine[]>();
  for (const event of events) byTask.set(event.task_id, [...(byTask.get(event.task_id) ?? []), event]);
  for (const task of file.rows<TaskLine>("SELECT * FROM tasks")) {
    broken.push(...brokenTask(task, byTask.get(task.id) ?? []));
  }
  return broken;
}

function brokenTask(task: TaskLine, events: readonly EventLine[]): string[] {
  const broken: string[] = [];
  const say = (what: string) => broken.push(`task ${task.id}: ${what}`);
  const held = task.status === "claimed";
  if (held && (task.lease_id === null || task.holder_session === null)) say("claimed by nobody");
  if (held !== (task.queue === 2 && task.status !== "open")) say(`status ${task.status} stands in queue ${task.queue}`);
  if (task.status === "completed" && (task.closed_by === null || task.closed_at === null)) say("completed by nobody");
  let status = "none";
  let fence = 0;
  let live: string | null = null;
  for (const { type, data } of events) {
    const { lease_id: lease, fence: given } = JSON.parse(data) as { lease_id?: string; fence?: number };
    if (type === "task.claimed") {
      if (live !== null) say(`lease ${lease} was granted while ${live} lived`);
      if (given !== fence + 1) say(`fence ${given} came after ${fence}`);
      fence = given ?? fence;
      live = lease ?? null;
    } else if (AFTER[type] !== undefined) {
      if (type === "task.completed" && lease !== live) say(`completed under ${lease} while ${live} lived`);
      live = null;
    }
    status = AFTER[type] ?? status;
  }
  if (status !== task.status) say(`is ${task.status}, but its events say ${status}`);
  if (fence !== task.fence) say(`has fence ${task.fence}, but its events say ${fence}`);
  if (held && live !== task.lease_id) say(`is held under ${task.lease_id}, but its events say ${live}`);
  return broken;
}
