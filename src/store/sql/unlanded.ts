import type { ScopeKey } from "../../contract/scope.js";
import type { UnlandedRow, UnlandedScope, UnlandedVerbs } from "../../core/port/unlanded-rows.js";
import type { SqlValue } from "../driver.js";
import { assignments, type Db, done } from "./db.js";
import { nearAny } from "./near.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "branch",
  "scopes",
  "intent",
  "agent_id",
  "session_id",
  "hops",
  "offered_to",
  "declared_at",
  "expires_at",
  "ended_at",
  "ended_how",
] as const;
const SCOPE_COLUMNS = ["unlanded_seq", "place", "namespace", "key", "index_key"] as const;
/** Where it is found by a name that was changed. */
const CHANGED_NAMES = { table: "unlanded_scopes", columns: ["unlanded_seq", "key"] } as const;
const CHANGES: ReadonlySet<string> = new Set(COLUMNS.slice(4));

const STEWARD = "a.name AS agent_name, CASE WHEN a.deleted_at IS NULL THEN 0 ELSE 1 END AS agent_deleted";
const UNLANDED = `SELECT u.*, ${STEWARD} FROM unlanded u JOIN agents a ON a.id = u.agent_id`;
/** Kind of the advisory lock on a branch's row that may not be there yet; lower ones are the events' and others'. */
const BRANCH_LOCK = 7;

/** For what is read to be changed. */
const lockingOf = ({ locks }: Db) => (locks ? "FOR UPDATE OF u" : "");

export function unlandedVerbs(db: Db): UnlandedVerbs {
  const { lock } = db.dialect;
  const locking = lockingOf(db);
  let declared = false;
  return {
    get declared() {
      return declared;
    },
    insert(row) {
      declared = true;
      return db.insert("unlanded", COLUMNS, row);
    },
    async ofBranch(projectId, branch) {
      if (db.locks && lock) await db.get(lock(BRANCH_LOCK), `${projectId} ${branch}`);
      return db.get<UnlandedRow>(`${UNLANDED} WHERE u.project_id = ? AND u.branch = ? ${locking}`, projectId, branch);
    },
    byId: (workspaceId, id) =>
      db.get<UnlandedRow>(`${UNLANDED} WHERE u.id = ? AND u.workspace_id = ? ${locking}`, id, workspaceId),
    change(seq, change) {
      declared = true;
      const { set, values } = assignments(change, CHANGES);
      return done(db.run(`UPDATE unlanded SET ${set} WHERE seq = ?`, ...values, seq));
    },
    async putScopes(seq, rows) {
      await db.run("DELETE FROM unlanded_scopes WHERE unlanded_seq = ?", seq);
      for (const row of rows) await db.append("unlanded_scopes", SCOPE_COLUMNS, row);
    },
    nearAny(namespace, near, nowMs) {
      const { sql, params } = nearAny(db.dialect, CHANGED_NAMES, namespace, near);
      return db.all<UnlandedRow & { key: ScopeKey }>(
        `SELECT u.*, ${STEWARD}, q.key FROM (${sql}) AS q
         JOIN unlanded u ON u.seq = q.unlanded_seq AND u.ended_at IS NULL AND u.expires_at > ?
         JOIN agents a ON a.id = u.agent_id`,
        ...params,
        nowMs,
      );
    },
    scopesOf: (seq) =>
      db.all<UnlandedScope>("SELECT * FROM unlanded_scopes WHERE unlanded_seq = ? ORDER BY place", seq),
    ...listing(db),
    ...ending(db),
  };
}

function listing(db: Db): Pick<UnlandedVerbs, "list"> {
  const { numbersOf } = db.dialect;
  return {
    list(workspaceId, { projectId, branch, agentId, offeredTo, seqs, ended, nowMs }, page) {
      const over = ended ? "(u.ended_at IS NOT NULL OR u.expires_at <= ?)" : "u.ended_at IS NULL AND u.expires_at > ?";
      const where = ["u.workspace_id = ?", "u.seq > ?", over];
      const params: SqlValue[] = [workspaceId, page.after?.[0] ?? 0, nowMs];
      const chosen = {
        "u.project_id = ?": projectId,
        "u.branch = ?": branch,
        "u.agent_id = ?": agentId,
        "u.offered_to = ?": offeredTo,
      };
      for (const [sql, value] of Object.entries(chosen)) {
        if (value === undefined) continue;
        where.push(sql);
        params.push(value);
      }
      if (seqs) {
        where.push(`u.seq IN (${numbersOf})`);
        params.push(JSON.stringify(seqs));
      }
      const sql = `${UNLANDED} WHERE ${where.join(" AND ")} ORDER BY u.seq LIMIT ?`;
      return db.all<UnlandedRow>(sql, ...params, page.limit);
    },
  };
}

/** Its end, and what may have to end. */
function ending(db: Db): Pick<UnlandedVerbs, "end" | "due" | "live"> {
  const locking = lockingOf(db);
  return {
    async end(seq, at, how) {
      const over = "UPDATE unlanded SET ended_at = ?, ended_how = ?, offered_to = NULL WHERE seq = ?";
      await db.run(over, at, how, seq);
      await db.run("DELETE FROM unlanded_scopes WHERE unlanded_seq = ?", seq);
    },
    due: (nowMs, limit) =>
      db.all<UnlandedRow>(
        `${UNLANDED} WHERE u.ended_at IS NULL AND u.expires_at <= ? ORDER BY u.expires_at, u.seq LIMIT ${limit}
         ${locking === "" ? "" : `${locking} SKIP LOCKED`}`,
        nowMs,
      ),
    live: (projectId, nowMs) =>
      db.all<UnlandedRow>(
        `${UNLANDED} WHERE u.project_id = ? AND u.ended_at IS NULL AND u.expires_at > ? ORDER BY u.seq ${locking}`,
        projectId,
        nowMs,
      ),
  };
}
