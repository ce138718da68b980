import { openDriver, type SqlValue } from "../../src/store/driver.js";
import { brokenTasks, type EdgeLine, type EventLine, type TaskLine } from "./broken-tasks.js";

/** Looks into a store's file past Dibs, and moves its clock: what no caller of Dibs can do. */
export class StoreFile {
  constructor(readonly path: string) {}

  rows<T = Record<string, SqlValue>>(sql: string, ...params: SqlValue[]): T[] {
    return this.#with((driver) => driver.prepare(sql).all(...params) as T[]);
  }

  /** Several queries' rows as they were at one instant, whoever writes meanwhile. */
  snapshot<T>(read: (rows: <R>(sql: string) => R[]) => T): T {
    return this.#with((driver) => {
      driver.exec("BEGIN");
      return read(<R>(sql: string) => driver.prepare(sql).all() as R[]);
    });
  }

  run(sql: string, ...params: SqlValue[]): void {
    this.#with((driver) => driver.prepare(sql).run(...params));
  }

  /** Statements that go together. */
  exec(sql: string): void {
    this.#with((driver) => driver.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`));
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

/**
 * Everything that must hold of a store's file at any time, whatever happened to the processes (C55): the file is whole,
 * events have no gap, and what must hold of every task. Returns what is broken, one sentence each.
 */
export function brokenIn(file: StoreFile): string[] {
  const broken: string[] = [];
  const [check] = file.rows<{ integrity_check: string }>("PRAGMA integrity_check");
  if (check?.integrity_check !== "ok") broken.push(`integrity_check says ${check?.integrity_check}`);
  for (const row of file.rows("PRAGMA foreign_key_check")) broken.push(`foreign key of ${JSON.stringify(row)}`);
  const { tasks, events, edges } = file.snapshot((rows) => ({
    tasks: rows<TaskLine>("SELECT * FROM tasks"),
    events: rows<EventLine>("SELECT id, type, task_id, data FROM events ORDER BY id"),
    edges: rows<EdgeLine>("SELECT task_seq, blocker_seq FROM dependencies"),
  }));
  events.forEach(({ id }, at) => {
    const before = events[at - 1]?.id;
    if (before !== undefined && id !== before + 1) broken.push(`events jump from ${before} to ${id}`);
  });
  return [...broken, ...brokenTasks(tasks, events, edges)];
}
