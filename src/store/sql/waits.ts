import type { Near } from "../../core/port/scope-rows.js";
import type { StoredWait, WaitRow, WaitVerbs, YieldRow } from "../../core/port/wait-rows.js";
import type { SqlValue } from "../driver.js";
import { after, type Db, done, insertInto, valuesOf } from "./db.js";
import { nearAny, nearAnyOf } from "./near.js";
import { LIVE } from "./scopes.js";
import { sharedBy } from "./sharing.js";

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
const YIELD = [
  "id",
  "workspace_id",
  "project_id",
  "claim_id",
  "scope",
  "holder_agent",
  "holder_session",
  "asked_by_agent",
  "asked_by_session",
  "reason",
  "asked_at",
  "answer",
  "answer_reason",
  "answered_at",
] as const satisfies readonly (keyof YieldRow)[];

// A ticket for a task lives while its lease does; without a session it keeps names free for a task that nobody holds.
const TASK_UNTIL = "CASE WHEN t.status = 'claimed' AND t.lease_id = w.task_lease THEN t.lease_until ELSE 0 END";
const WAIT = `SELECT w.*, a.name AS agent_name, s.implicit, s.client, s.branch,
  ${sharedBy("s")} AS shared_by,
  CASE WHEN w.session_id IS NULL THEN CASE WHEN t.status = 'open' AND (t.queue = 1 OR t.parked_by IS NOT NULL) THEN NULL ELSE 0 END
    WHEN s.state <> 'open' THEN 0
    WHEN w.task_id IS NULL THEN s.expires_at
    WHEN s.expires_at IS NOT NULL AND s.expires_at < ${TASK_UNTIL} THEN s.expires_at
    ELSE ${TASK_UNTIL} END AS until
  FROM waits w LEFT JOIN sessions s ON s.id = w.session_id LEFT JOIN agents a ON a.id = w.agent_id
  LEFT JOIN tasks t ON t.id = w.task_id`;
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
  const { textsOf } = db.dialect;
  const tickets = (asked: string, params: readonly SqlValue[]) =>
    db.all<WaitRow>(`${WAIT} WHERE w.seq IN (${asked}) ORDER BY w.rank, w.seq`, ...params);
  const any = nearAnyOf(db.dialect, "wait_seq", "wait_scopes");
  const one = (namespace: string, { at, from, below }: Near) =>
    tickets(
      `SELECT q.wait_seq FROM wait_scopes q WHERE q.namespace = ? AND q.index_key IN (${textsOf})
         UNION SELECT q.wait_seq FROM wait_scopes q WHERE q.namespace = ? AND q.index_key >= ? AND q.index_key < ?`,
      [namespace, JSON.stringify(at), namespace, from, below],
    );
  return {
    nearAny: (namespace, all) =>
      all.length === 1 ? one(namespace, all[0] as Near) : tickets(any, nearAny(namespace, all)),
  };
}

function listing(db: Db): Pick<WaitVerbs, "list"> {
  const { textsOf } = db.dialect;
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
        const { namespace, near } = filter.near;
        narrow(
          `seq IN (SELECT q.wait_seq FROM wait_scopes q WHERE q.namespace = ?
             AND (q.index_key IN (${textsOf}) OR (q.index_key >= ? AND q.index_key < ?)))`,
          namespace,
          JSON.stringify(near.at),
          near.from,
          near.below,
        );
      }
      return db.all<WaitRow>(
        `SELECT * FROM (${WAIT}) AS line WHERE ${where.join(" AND ")} ORDER BY rank, seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}

// Nobody answers for what is held no more.
const OPEN = `(answer IS NULL AND EXISTS (SELECT 1 FROM scope_claims c JOIN sessions s ON s.id = c.holder_session
  LEFT JOIN tasks t ON t.id = c.task_id WHERE c.id = yields.claim_id AND ${LIVE}))`;

type Yields = "addYield" | "yieldById" | "openYield" | "answerYield" | "yields";

function yields(db: Db): Pick<WaitVerbs, Yields> {
  return {
    addYield: (row) => done(db.run(insertInto("yields", YIELD), ...valuesOf(row, YIELD))),
    yieldById: (workspaceId, id) =>
      db.get<YieldRow>("SELECT * FROM yields WHERE workspace_id = ? AND id = ?", workspaceId, id),
    openYield: (claimId, sessionId) =>
      db.get<YieldRow>(
        "SELECT * FROM yields WHERE claim_id = ? AND asked_by_session = ? AND answer IS NULL",
        claimId,
        sessionId,
      ),
    answerYield: (id, answer, reason, at) =>
      done(
        db.run("UPDATE yields SET answer = ?, answer_reason = ?, answered_at = ? WHERE id = ?", answer, reason, at, id),
      ),
    yields(workspaceId, { projectId, holderSession, claimId, open }, nowMs, page) {
      const where = ["workspace_id = ?", "seq > ?"];
      const params: SqlValue[] = [workspaceId, page.after?.[0] ?? 0];
      if (projectId !== undefined) {
        where.push("project_id = ?");
        params.push(projectId);
      }
      if (holderSession !== undefined) {
        where.push("holder_session = ?");
        params.push(holderSession);
      }
      if (claimId !== undefined) {
        where.push("claim_id = ?");
        params.push(claimId);
      }
      if (open !== undefined) {
        where.push(open ? OPEN : `NOT ${OPEN}`);
        params.push(nowMs, nowMs, nowMs);
      }
      return db.all<YieldRow>(
        `SELECT * FROM yields WHERE ${where.join(" AND ")} ORDER BY seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}
