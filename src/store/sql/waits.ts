import { QUEUE } from "../../core/port/rows.js";
import type { StoredWait, WaitRow, WaitVerbs } from "../../core/port/wait-rows.js";
import type { SqlValue } from "../driver.js";
import { after, type Db, done } from "./db.js";
import { nearAny, nearOne } from "./near.js";
import { sharedBy } from "./sharing.js";
import { yields } from "./yields.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "agent_id",
  "session_id",
  "task_id",
  "task_lease",
  "mark",
  "wanted",
  "intent",
  "lease_seconds",
  "priority",
  "asked_at",
  "rank",
  "offered_until",
  "ended_at",
  "ended_how",
  "claims",
] as const satisfies readonly (keyof StoredWait)[];
// A ticket for a task lives while its lease does; without a session it keeps names free for a task that nobody holds.
const TASK_UNTIL = "CASE WHEN t.status = 'claimed' AND t.lease_id = w.task_lease THEN t.lease_until ELSE 0 END";
const WAIT = `SELECT w.*, a.name AS agent_name, s.implicit, s.client, s.branch,
  ${sharedBy("s")} AS shared_by,
  CASE WHEN w.session_id IS NULL THEN
      CASE WHEN t.status = 'open' AND (t.queue = ${QUEUE.ready} OR t.parked_by IS NOT NULL) THEN NULL ELSE 0 END
    WHEN s.state <> 'open' THEN 0
    WHEN w.task_id IS NULL THEN s.expires_at
    WHEN s.expires_at IS NOT NULL AND s.expires_at < ${TASK_UNTIL} THEN s.expires_at
    ELSE ${TASK_UNTIL} END AS until
  FROM waits w LEFT JOIN sessions s ON s.id = w.session_id LEFT JOIN agents a ON a.id = w.agent_id
  LEFT JOIN tasks t ON t.id = w.task_id`;
/** Where tickets are found by a name. */
const WANTED = { table: "wait_scopes", columns: ["wait_seq"] } as const;
const ANY = "SELECT 1 AS x FROM waits WHERE ended_at IS NULL LIMIT 1";
const ANY_OFFERED = "SELECT 1 AS x FROM waits WHERE ended_at IS NULL AND offered_until IS NOT NULL LIMIT 1";

/** Who waits for names, and what they asked of who holds them. */
export function waitVerbs(db: Db): WaitVerbs {
  const { numbersOf, textsOf } = db.dialect;
  let added = false;
  const all = (where: string, ...params: SqlValue[]) =>
    db.all<WaitRow>(`${WAIT} WHERE ${where} ORDER BY w.rank, w.seq`, ...params);
  return {
    get any() {
      return after(db.get(ANY), (row) => row !== undefined);
    },
    anyOffered: () => after(db.get(ANY_OFFERED), (row) => row !== undefined),
    async add(row, names) {
      added = true;
      const seq = await db.insert("waits", COLUMNS, row);
      for (const [place, { namespace, index_key }] of names.entries())
        await db.append("wait_scopes", ["wait_seq", "place", "namespace", "index_key"], {
          wait_seq: seq,
          place,
          namespace,
          index_key,
        });
    },
    ...near(db),
    byId: (workspaceId, id) => db.get<WaitRow>(`${WAIT} WHERE w.workspace_id = ? AND w.id = ?`, workspaceId, id),
    bySeqs: (seqs) => all(`w.seq IN (${numbersOf})`, JSON.stringify(seqs)),
    ofSessions: (ids) => all(`w.ended_at IS NULL AND w.session_id IN (${textsOf})`, JSON.stringify(ids)),
    ofLease: (taskId, leaseId) => all("w.ended_at IS NULL AND w.task_id = ? AND w.task_lease = ?", taskId, leaseId),
    get added() {
      return added;
    },
    ofTask: (taskId) => all("w.ended_at IS NULL AND w.task_id = ? AND w.session_id IS NULL", taskId),
    countOfAgent: (agentId) =>
      after(
        db.get<{ n: number }>("SELECT count(*) AS n FROM waits WHERE ended_at IS NULL AND agent_id = ?", agentId),
        (row) => row?.n ?? 0,
      ),
    due: (nowMs, limit) =>
      all(
        `w.seq IN (SELECT q.seq FROM waits q WHERE q.ended_at IS NULL AND q.offered_until IS NOT NULL
           AND q.offered_until <= ? ORDER BY q.offered_until LIMIT ${limit})`,
        nowMs,
      ),
    offer: (seq, untilMs) => done(db.run("UPDATE waits SET offered_until = ? WHERE seq = ?", untilMs, seq)),
    async end(seq, at, how, claims) {
      const ended = await db.run(
        "UPDATE waits SET ended_at = ?, ended_how = ?, claims = ? WHERE seq = ? AND ended_at IS NULL",
        at,
        how,
        claims,
        seq,
      );
      await db.run("DELETE FROM wait_scopes WHERE wait_seq = ?", seq);
      return ended === 1;
    },
    ...listing(db),
    ...yields(db),
  };
}

function near(db: Db): Pick<WaitVerbs, "nearAny"> {
  return {
    nearAny(namespace, all) {
      const { sql, params } = nearAny(db.dialect, WANTED, namespace, all);
      return db.all<WaitRow>(`${WAIT} WHERE w.seq IN (${sql}) ORDER BY w.rank, w.seq`, ...params);
    },
  };
}

function listing(db: Db): Pick<WaitVerbs, "list"> {
  return {
    list(workspaceId, filter, nowMs, page) {
      const [rank = Number.MIN_SAFE_INTEGER, seq = 0] = page.after ?? [];
      const where = ["workspace_id = ?", "ended_at IS NULL", "session_id IS NOT NULL"];
      where.push("(offered_until IS NULL OR offered_until > ?)", "(until IS NULL OR until > ?)");
      where.push("(rank > ? OR (rank = ? AND seq > ?))");
      const params: SqlValue[] = [workspaceId, nowMs, nowMs, rank, rank, seq];
      const narrow = (condition: string, ...values: SqlValue[]) => {
        where.push(condition);
        params.push(...values);
      };
      if (filter.projectId !== undefined) narrow("project_id = ?", filter.projectId);
      if (filter.agentId !== undefined) narrow("agent_id = ?", filter.agentId);
      if (filter.sessionId !== undefined) narrow("session_id = ?", filter.sessionId);
      if (filter.near !== undefined) {
        const found = nearOne(db.dialect, WANTED, filter.near.namespace, filter.near.near);
        narrow(`seq IN (${found.sql})`, ...found.params);
      }
      return db.all<WaitRow>(
        `SELECT * FROM (${WAIT}) AS line WHERE ${where.join(" AND ")} ORDER BY rank, seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}
