import type { EventRow } from "../../core/port/rows.js";
import type { EventVerbs } from "../../core/port/verbs.js";
import { type Db, valuesOf } from "./db.js";

const COLUMNS = [
  "workspace_id",
  "type",
  "at",
  "agent_id",
  "agent_name",
  "session_id",
  "project_id",
  "task_id",
  "data",
] as const;

export function eventVerbs(db: Db): EventVerbs {
  return {
    append: (event) => db.append("events", COLUMNS, event),
    async appendAhead(event, by) {
      const id = "(SELECT coalesce(max(id), 0) + ? FROM events)";
      const values = [id, ...COLUMNS.map(() => "?")].join(", ");
      await db.run(
        `INSERT INTO events (id, ${COLUMNS.join(", ")}) VALUES (${values})`,
        by,
        ...valuesOf(event, COLUMNS),
      );
      const { goOnBehindLast } = db.dialect;
      if (goOnBehindLast) await db.get(goOnBehindLast("events", "id"));
    },
    list(workspaceId, filter) {
      const where = ["workspace_id = ?", "id > ?"];
      const params: (string | number)[] = [workspaceId, filter.afterId];
      if (filter.taskId !== undefined) {
        where.push("task_id = ?");
        params.push(filter.taskId);
      }
      if (filter.projectId !== undefined) {
        where.push("project_id = ?");
        params.push(filter.projectId);
      }
      if (filter.types?.length) {
        where.push(`type IN (${db.dialect.textsOf})`);
        params.push(JSON.stringify(filter.types));
      }
      const page = (order: string) => `SELECT * FROM events WHERE ${where.join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      const sql = filter.newest ? `SELECT * FROM (${page("DESC")}) AS newest ORDER BY id` : page("ASC");
      return db.all<EventRow>(sql, ...params, filter.limit);
    },
    lastOf: (taskId, types, limit) =>
      db.all<EventRow>(
        `SELECT * FROM events WHERE task_id = ? AND type IN (${db.dialect.textsOf}) ORDER BY id DESC LIMIT ${limit}`,
        taskId,
        JSON.stringify(types),
      ),
  };
}
