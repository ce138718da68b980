import type { ProjectRow, WorkspaceRow } from "../../core/port/rows.js";
import type { Page, WorkspaceVerbs } from "../../core/port/verbs.js";
import { after, assignments, type Db, done, insertInto, valuesOf } from "./db.js";

const PROJECT = ["id", "workspace_id", "key", "name", "case_insensitive", "created_at"] as const;
const WORKSPACE_CHANGES = new Set(["name", "settings"]);
const PROJECT_CHANGES = new Set(["key", "name", "case_insensitive"]);
const INSERT_PROJECT = insertInto("projects", PROJECT);

type Stored = Omit<WorkspaceRow, "settings"> & { settings: string };

export function workspaceVerbs(db: Db): WorkspaceVerbs {
  const present = (row: Stored): WorkspaceRow => ({ ...row, settings: JSON.parse(row.settings) });
  const read = (row: Stored | undefined): WorkspaceRow | undefined => row && present(row);
  return {
    insert: (row) =>
      done(
        db.run(
          "INSERT INTO workspaces (id, name, settings, created_at) VALUES (?, ?, ?, ?)",
          row.id,
          row.name,
          JSON.stringify(row.settings),
          row.created_at,
        ),
      ),
    byId: (id) => after(db.get<Stored>("SELECT * FROM workspaces WHERE id = ?", id), read),
    byName: (name) => after(db.get<Stored>("SELECT * FROM workspaces WHERE name = ?", name), read),
    all: () => after(db.all<Stored>("SELECT * FROM workspaces ORDER BY created_at, id"), (rows) => rows.map(present)),
    update(id, { name, settings }) {
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(settings && { settings: JSON.stringify(settings) }),
      };
      const { set, values } = assignments(change, WORKSPACE_CHANGES);
      if (set) return done(db.run(`UPDATE workspaces SET ${set} WHERE id = ?`, ...values, id));
    },
    insertProject: (row) => done(db.run(INSERT_PROJECT, ...valuesOf(row, PROJECT))),
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
      if (set) return done(db.run(`UPDATE projects SET ${set} WHERE id = ?`, ...values, id));
    },
  };
}
