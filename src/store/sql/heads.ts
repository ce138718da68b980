import type { HeadRow, HeadVerbs } from "../../core/port/head-verbs.js";
import { type Db, done, insertInto, valuesOf } from "./db.js";

const COLUMNS = ["workspace_id", "project_id", "branch", "head", "agent_id", "updated_at"] as const;
const PUT = `${insertInto("branch_heads", COLUMNS)} ON CONFLICT (project_id, branch)
  DO UPDATE SET head = excluded.head, agent_id = excluded.agent_id, updated_at = excluded.updated_at`;

export function headVerbs(db: Db): HeadVerbs {
  return {
    of: (projectIds, branches) =>
      db.all<HeadRow>(
        `SELECT * FROM branch_heads WHERE project_id IN (${db.dialect.textsOf}) AND branch IN (${db.dialect.textsOf})`,
        JSON.stringify(projectIds),
        JSON.stringify(branches),
      ),
    put: (row) => done(db.run(PUT, ...valuesOf(row, COLUMNS))),
    list(workspaceId, { projectId, branch }, page) {
      const chosen = { "workspace_id = ?": workspaceId, "project_id = ?": projectId, "branch = ?": branch };
      const given = Object.entries(chosen).filter((entry): entry is [string, string] => entry[1] !== null);
      return db.all<HeadRow>(
        `SELECT * FROM branch_heads WHERE ${given.map(([sql]) => sql).join(" AND ")} AND seq > ? ORDER BY seq LIMIT ?`,
        ...given.map(([, value]) => value),
        page.after?.[0] ?? 0,
        page.limit,
      );
    },
  };
}
