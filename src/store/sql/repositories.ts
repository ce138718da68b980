import type { RepositoryRow, RepositoryVerbs } from "../../core/port/repository-verbs.js";
import { after, type Db, done, insertInto, valuesOf } from "./db.js";

const COLUMNS = ["workspace_id", "identity", "remote", "project_id", "created_at"] as const;
const PUT = `${insertInto("repositories", COLUMNS)} ON CONFLICT (workspace_id, identity)
  DO UPDATE SET remote = excluded.remote, project_id = excluded.project_id`;

export function repositoryVerbs(db: Db): RepositoryVerbs {
  const { textsOf } = db.dialect;
  return {
    named: (workspaceId, identities) =>
      db.all<RepositoryRow>(
        `SELECT * FROM repositories WHERE workspace_id = ? AND identity IN (${textsOf})`,
        workspaceId,
        JSON.stringify(identities),
      ),
    ofProjects: (projectIds) =>
      db.all<RepositoryRow>(
        `SELECT * FROM repositories WHERE project_id IN (${textsOf}) ORDER BY seq`,
        JSON.stringify(projectIds),
      ),
    any: (workspaceId) =>
      after(
        db.get("SELECT 1 AS known FROM repositories WHERE workspace_id = ? LIMIT 1", workspaceId),
        (row) => row !== undefined,
      ),
    put: (row) => done(db.run(PUT, ...valuesOf(row, COLUMNS))),
  };
}
