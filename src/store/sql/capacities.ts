import type { CapacityRow, ScopeVerbs } from "../../core/port/scope-rows.js";
import type { Db } from "./db.js";

type Capacities = "capacities" | "setCapacity" | "listCapacities";

/** The claims of a name with places that live beside these: what sleeps because of one of them has a place when any ends. */
export const BESIDE = (claims: string) => `SELECT o.seq FROM scope_claims c
  JOIN scope_capacities p ON p.namespace = c.namespace AND p.key = c.key
  JOIN scope_claims o ON o.namespace = c.namespace AND o.index_key = c.index_key AND o.key = c.key AND o.ended_at IS NULL
  WHERE ${claims}`;

/** Flat scopes with more than one place. */
export function capacities(db: Db): Pick<ScopeVerbs, Capacities> {
  const { textsOf } = db.dialect;
  return {
    async capacities(names) {
      const wanted = new Set(names.map(({ namespace, key }) => `${namespace} ${key}`));
      const rows = await db.all<CapacityRow>(
        `SELECT * FROM scope_capacities WHERE namespace IN (${textsOf}) AND key IN (${textsOf})`,
        JSON.stringify([...new Set(names.map(({ namespace }) => namespace))]),
        JSON.stringify([...new Set(names.map(({ key }) => key))]),
      );
      return rows.filter(({ namespace, key }) => wanted.has(`${namespace} ${key}`));
    },
    async setCapacity({ workspace_id, project_id, namespace, scope, kind, key, capacity }) {
      if (capacity === 1) {
        await db.run("DELETE FROM scope_capacities WHERE namespace = ? AND key = ?", namespace, key);
        return;
      }
      await db.run(
        `INSERT INTO scope_capacities (workspace_id, project_id, namespace, scope, kind, key, capacity)
           VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (namespace, key) DO UPDATE SET capacity = excluded.capacity`,
        ...[workspace_id, project_id, namespace, scope, kind, key, capacity],
      );
    },
    listCapacities: (workspaceId, projectId, page) =>
      db.all<CapacityRow & { readonly seq: number }>(
        `SELECT * FROM scope_capacities WHERE workspace_id = ? AND seq > ? ${projectId === null ? "" : "AND namespace IN (?, ?)"}
         ORDER BY seq LIMIT ?`,
        workspaceId,
        page.after?.[0] ?? 0,
        // What its projects share is every project's.
        ...(projectId === null ? [] : [projectId, workspaceId]),
        page.limit,
      ),
  };
}
