import type { ScopeLeaseVerbs } from "../../core/port/scope-rows.js";
import { after, type Db, done } from "./db.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "namespace",
  "scope",
  "kind",
  "key",
  "index_key",
  "mode",
  "task_id",
  "task_lease",
  "holder_agent",
  "holder_session",
  "intent",
  "nested",
  "hops",
  "fence",
  "claimed_at",
  "lease_seconds",
  "lease_until",
] as const;

/** Leases on names: with leases.ts the only code that writes lease columns (R44). */
export function scopeLeaseVerbs(db: Db): ScopeLeaseVerbs {
  const { numbersOf } = db.dialect;
  return {
    drawScopeFences: (namespace, count) =>
      after(
        db.get<{ fence: number }>(
          `INSERT INTO scope_fences (namespace, fence) VALUES (?, ?)
           ON CONFLICT (namespace) DO UPDATE SET fence = scope_fences.fence + excluded.fence RETURNING fence`,
          namespace,
          count,
        ),
        (row) => row?.fence ?? count,
      ),
    grantScope: (row) => db.append("scope_claims", COLUMNS, row),
    // The last word on the right stands in the statement that uses it (R3): the claim's own clock, and its session's.
    renewScope: (row, nowMs, becomes) =>
      after(
        db.run(
          `UPDATE scope_claims SET mode = ?, nested = ?, hops = ?, intent = ?, fence = ?, lease_seconds = ?, lease_until = ?
           WHERE seq = ? AND ended_at IS NULL AND (task_id IS NOT NULL OR lease_until > ?)
           AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = holder_session AND s.state = 'open'
             AND (s.expires_at IS NULL OR s.expires_at > ?))`,
          becomes.mode,
          becomes.nested,
          becomes.hops,
          becomes.intent,
          becomes.fence,
          becomes.lease_seconds,
          becomes.lease_until,
          row.seq,
          nowMs,
          nowMs,
        ),
        (changed) => changed === 1,
      ),
    endScopesOf: (taskId, at, how) =>
      done(
        db.run(
          "UPDATE scope_claims SET ended_at = ?, ended_how = ? WHERE ended_at IS NULL AND task_id = ?",
          at,
          how,
          taskId,
        ),
      ),
    endScopes: (seqs, at, how) =>
      db.run(
        `UPDATE scope_claims SET ended_at = ?, ended_how = ? WHERE ended_at IS NULL AND seq IN (${numbersOf})`,
        at,
        how,
        JSON.stringify(seqs),
      ),
  };
}
