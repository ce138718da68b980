import type { TaskRow } from "../../core/port/rows.js";
import type { Duty, LeaseVerbs } from "../../core/port/verbs.js";
import { after, type Db, type Guard } from "./db.js";
import { scopeLeaseVerbs } from "./scope-leases.js";
import { writeTask } from "./tasks.js";

// The last word on a right stands in the statement that uses it (R3): the lease by name, its clock, its session's.
const LIVE = `lease_id = :lease_id AND status = 'claimed' AND lease_until > :now AND EXISTS (SELECT 1 FROM sessions s
  WHERE s.id = holder_session AND s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > :now))`;
const live = (row: TaskRow, nowMs: number): Guard => ({ sql: LIVE, values: { lease_id: row.lease_id, now: nowMs } });
const free = (row: TaskRow): Guard => ({ sql: "status = 'open' AND fence = :fence", values: { fence: row.fence } });
const held = (row: TaskRow): Guard => ({
  sql: "status = 'claimed' AND lease_id = :lease_id",
  values: { lease_id: row.lease_id },
});

const TAKE_DUTY = `INSERT INTO duties (name, holder, fence, until_ms) VALUES (?, ?, 1, ?)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms,
  fence = duties.fence + CASE WHEN duties.holder = excluded.holder THEN 0 ELSE 1 END
  WHERE duties.holder = excluded.holder OR duties.until_ms <= ?`;
/** Tasks lifted by one statement: a second's work, where a million take longer than a statement may. */
const LIFTED_AT_ONCE = 20_000;

/** The only code that writes lease columns (R44). */
export function leaseVerbs(db: Db): LeaseVerbs {
  return {
    grant: (row, becomes) => writeTask(db, row, becomes, free(row)),
    duty: (name) => db.get<Duty>("SELECT * FROM duties WHERE name = ?", name),
    takeDuty: (name, holder, untilMs, nowMs) =>
      after(db.run(TAKE_DUTY, name, holder, untilMs, nowMs), (rows) => rows === 1),
    transfer: (row, nowMs, becomes) => writeTask(db, row, becomes, live(row, nowMs)),
    renew: (row, nowMs, becomes) => writeTask(db, row, becomes, live(row, nowMs)),
    end: (row, how, becomes) => writeTask(db, row, becomes, how.live ? live(row, how.nowMs) : held(row)),
    async liftFences(by) {
      const last = (await db.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM tasks"))?.seq ?? 0;
      let lifted = 0;
      for (let from = 0; from < last; from += LIFTED_AT_ONCE) {
        const sql = "UPDATE tasks SET fence = fence + ? WHERE seq > ? AND seq <= ?";
        lifted += await db.run(sql, by, from, from + LIFTED_AT_ONCE);
      }
      // Those, too, that have no grant yet: their first may be of the time that is lost.
      await db.run(
        `INSERT INTO scope_fences (namespace, fence)
         SELECT id, CAST(? AS bigint) FROM (SELECT id FROM projects UNION SELECT id FROM workspaces) AS namespaces WHERE true
         ON CONFLICT (namespace) DO UPDATE SET fence = scope_fences.fence + excluded.fence`,
        by,
      );
      // What a server does for all, it does under a lease and a fence, too.
      await db.run("UPDATE duties SET fence = fence + ?, until_ms = 0", by);
      db.kept.clear();
      return lifted;
    },
    ...scopeLeaseVerbs(db),
  };
}
