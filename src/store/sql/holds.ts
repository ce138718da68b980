import type { HoldRow, HoldVerbs } from "../../core/port/hold-rows.js";
import { QUEUE } from "../../core/port/rows.js";
import type { DeclaredRow } from "../../core/port/scope-rows.js";
import { after, type Db, done, insertInto, valuesOf } from "./db.js";
import { nearOne } from "./near.js";
import { asleepFor, DECLARED_NAMES, moveInQueue, type Sleeper } from "./parking.js";
import { inQueue } from "./read-tasks.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "namespace",
  "scope",
  "key",
  "reason",
  "allow",
  "placed_by",
  "placed_at",
  "expires_at",
  "ended_at",
  "ended_how",
] as const;
const INSERT = insertInto("holds", COLUMNS);
const HOLD = "SELECT h.*, a.name AS agent_name FROM holds h JOIN agents a ON a.id = h.placed_by";

export function holdVerbs(db: Db): HoldVerbs {
  return {
    insert: (row) => done(db.run(INSERT, ...valuesOf(row, COLUMNS))),
    byId: (workspaceId, id) => db.get<HoldRow>(`${HOLD} WHERE h.id = ? AND h.workspace_id = ?`, id, workspaceId),
    unended: (workspaceId) =>
      db.all<HoldRow>(`${HOLD} WHERE h.workspace_id = ? AND h.ended_at IS NULL ORDER BY h.seq`, workspaceId),
    list(workspaceId, { projectId, ended, nowMs }, page) {
      const over = ended
        ? "(h.ended_at IS NOT NULL OR h.expires_at <= ?)"
        : "(h.ended_at IS NULL AND h.expires_at > ?)";
      const project = projectId === null ? "" : "AND h.project_id = ?";
      return db.all<HoldRow>(
        `${HOLD} WHERE h.workspace_id = ? AND h.seq > ? AND ${over} ${project} ORDER BY h.seq LIMIT ?`,
        workspaceId,
        page.after?.[0] ?? 0,
        nowMs,
        ...(projectId === null ? [] : [projectId]),
        page.limit,
      );
    },
    end: (seq, at, how) =>
      after(
        db.run("UPDATE holds SET ended_at = ?, ended_how = ? WHERE seq = ? AND ended_at IS NULL", at, how, seq),
        (changed) => changed === 1,
      ),
    due: (nowMs, limit) =>
      db.all<HoldRow>(
        `${HOLD} WHERE h.ended_at IS NULL AND h.expires_at <= ? ORDER BY h.expires_at, h.seq LIMIT ${limit}`,
        nowMs,
      ),
    declaredNear(namespace, near) {
      const { sql, params } = nearOne(db.dialect, DECLARED_NAMES, namespace, near);
      const ready = `SELECT q.* FROM (${sql}) AS q JOIN tasks t ON t.seq = q.task_seq AND ${inQueue("t")}`;
      return db.all<DeclaredRow>(ready, ...params);
    },
    ...sleeping(db),
  };
}

/** Tasks that sleep behind holds. Who lifts one writes alone, so that none is put to sleep behind one that has ended. */
function sleeping(db: Db): Pick<HoldVerbs, "parkProject" | "park" | "wakeFirst"> {
  // What another node's transaction has in hand is left to it.
  const locked = db.locks ? "FOR UPDATE OF t SKIP LOCKED" : "";
  const ready = `SELECT t.seq, t.id FROM tasks t WHERE t.status = 'open' AND t.queue = ${QUEUE.ready}`;
  const behind = (rows: readonly Sleeper[], holdSeq: number, untilMs: number) =>
    moveInQueue(db, rows, `wakes_at = ${untilMs}, parked_by = ${holdSeq}`, QUEUE.sleeping);
  return {
    async parkProject(projectId, holdSeq, untilMs) {
      const of = `${ready} AND t.project_id = ? ORDER BY t.seq ${locked}`;
      await behind(await db.all<Sleeper>(of, projectId), holdSeq, untilMs);
    },
    async park(taskSeqs, holdSeq, untilMs) {
      const of = `${ready} AND t.seq IN (${db.dialect.numbersOf}) ORDER BY t.seq ${locked}`;
      await behind(await db.all<Sleeper>(of, JSON.stringify(taskSeqs)), holdSeq, untilMs);
    },
    async wakeFirst(filter, holdSeqs, before) {
      const { where, params } = asleepFor(filter, before);
      const rows = await db.all<Sleeper>(
        `SELECT t.seq, t.id FROM tasks t ${db.dialect.indexedBy("tasks_passed_over")}
         WHERE ${where} AND t.parked_by IN (${db.dialect.numbersOf})
         ORDER BY t.priority DESC, t.seq LIMIT 1 ${locked}`,
        ...params,
        JSON.stringify(holdSeqs),
      );
      await moveInQueue(db, rows, "wakes_at = NULL, parked_by = NULL", QUEUE.ready);
      return rows.length > 0;
    },
  };
}
