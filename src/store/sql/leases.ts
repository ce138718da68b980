import type { LeaseVerbs } from "../../core/store.js";
import type { SqlValue } from "../driver.js";
import type { Db } from "./db.js";
import { NO_LABELS, writeTask } from "./tasks.js";

// The last word on a holder's right stands in the statement that uses it (R3): the lease by name, its clock, its session's.
const LIVE = `status = 'claimed' AND lease_until > ? AND EXISTS (
  SELECT 1 FROM sessions s WHERE s.id = holder_session AND s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > ?))`;

const GRANT = `UPDATE tasks SET status = 'claimed', queue = 2, wakes_at = ?, lease_id = ?, fence = ?, holder_agent = ?,
  holder_session = ?, claimed_at = ?, lease_seconds = ?, lease_until = ?, lapsed = 0, attempts = attempts + 1,
  state = 'working', version = version + 1, updated_at = ?
  WHERE seq = ? AND fence = ? AND status = 'open'`;

const RENEW = `UPDATE tasks SET lease_until = ?, wakes_at = ?, lease_seconds = ? WHERE seq = ? AND lease_id = ? AND ${LIVE}`;

/** The only statements that write lease columns (R44). */
export function leaseVerbs(db: Db): LeaseVerbs {
  return {
    grant(row, grant) {
      db.kept.drop(row.id);
      const { leaseId, fence, agentId, sessionId, leaseSeconds, untilMs, nowMs } = grant;
      const params: SqlValue[] = [untilMs, leaseId, fence, agentId, sessionId, nowMs, leaseSeconds, untilMs, nowMs];
      if (db.run(GRANT, ...params, row.seq, row.fence) !== 1) return false;
      if (row.labels !== NO_LABELS) db.run("UPDATE task_labels SET queue = 2 WHERE seq = ?", row.seq);
      return true;
    },
    renew(row, leaseSeconds, untilMs, nowMs) {
      db.kept.drop(row.id);
      return db.run(RENEW, untilMs, untilMs, leaseSeconds, row.seq, row.lease_id, nowMs, nowMs) === 1;
    },
    end(row, how, becomes) {
      const lapse = how.lapsedUntilMs === null ? {} : { lapsed: 1, lease_until: how.lapsedUntilMs };
      const where = how.live ? `AND lease_id = ? AND ${LIVE}` : "AND lease_id = ? AND status = 'claimed'";
      const params: SqlValue[] = how.live ? [row.lease_id, how.nowMs, how.nowMs] : [row.lease_id];
      return writeTask(db, row, { ...becomes, ...lapse }, where, params);
    },
  };
}
