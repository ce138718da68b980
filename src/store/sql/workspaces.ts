import type { ProjectRow, WorkspaceRow } from "../../core/rows.js";
import type { Page, WorkspaceVerbs } from "../../core/store.js";
import { assignments, type Db, insertInto, valuesOf } from "./db.js";

const PROJECT = ["id", "workspace_id", "key", "name", "case_insensitive", "created_at"] as const;
const PROJECT_CHANGES = new Set(["key", "name", "case_insensitive"]);
const INSERT_PROJECT = insertInto("projects", PROJECT);

type Stored = Omit<WorkspaceRow, "settings"> & { settings: string };

export function workspaceVerbs(db: Db): WorkspaceVerbs {
  const read = (row: Stored | undefined): WorkspaceRow | undefined =>
    row && { ...row, settings: JSON.parse(row.settings) };
  return {
    insert(row) {
      db.run(
        "INSERT INTO workspaces (id, name, settings, created_at) VALUES (?, ?, ?, ?)",
        row.id,
        row.name,
        JSON.stringify(row.settings),
        row.created_at,
      );
    },
    byId: (id) => read(db.get<Stored>("SELECT * FROM workspaces WHERE id = ?", id)),
    byName: (name) => read(db.get<Stored>("SELECT * FROM workspaces WHERE name = ?", name)),
    update(id, change) {
      if (change.name !== undefined) db.run("UPDATE workspaces SET name = ? WHERE id = ?", change.name, id);
      if (change.settings !== undefined) {
        db.run("UPDATE workspaces SET settings = ? WHERE id = ?", JSON.stringify(change.settings), id);
      }
    },
    insertProject(row) {
      db.run(INSERT_PROJECT, ...valuesOf(row, PROJECT));
    },
    project: (workspaceId, idOrKey) =>
      db.get<ProjectRow>(
        "SELECT * FROM projects WHERE workspace_id = ? AND (id = ? OR key = ?) ORDER BY id = ? DESC LIMIT 1",
        workspaceId,
        idOrKey,
        idOrKey,
        idOrKey,
      ),
    projects: (workspaceId, page: Page) =>
      db.all<ProjectRow>(
        "SELECT * FROM projects WHERE workspace_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        workspaceId,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    updateProject(id, change) {
      const { set, values } = assignments(change, PROJECT_CHANGES);
      if (set) db.run(`UPDATE projects SET ${set} WHERE id = ?`, ...values, id);
    },
  };
}
