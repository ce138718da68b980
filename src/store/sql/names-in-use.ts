import type { ScopeVerbs } from "../../core/port/scope-rows.js";
import { after, type Db } from "./db.js";

interface Use {
  readonly from: string;
  readonly live?: string;
  /** Of the table whose alias is `n` where nothing is said. */
  readonly workspace?: string;
  readonly key?: string;
}

const TASKS: Use = {
  from: "task_scopes n JOIN tasks w ON w.seq = n.task_seq",
  workspace: "w.workspace_id",
};
/**
 * All that keeps a name by its key: what a name means may not change under it. Said once for both questions: a kind that
 * was changed under a hold let claims past it, and one removed under unlanded work left that to end by nobody's word.
 */
const USES: readonly Use[] = [
  { from: "scope_claims n", live: "n.ended_at IS NULL" },
  { from: "wait_scopes n JOIN waits w ON w.seq = n.wait_seq", live: "w.ended_at IS NULL", workspace: "w.workspace_id" },
  { from: "holds n", live: "n.ended_at IS NULL", key: "n.key" },
  {
    from: "unlanded_scopes n JOIN unlanded w ON w.seq = n.unlanded_seq",
    live: "w.ended_at IS NULL",
    workspace: "w.workspace_id",
  },
  { from: "scope_capacities n", key: "n.key" },
];

/** Whether a name is in use, by its project or its kind. */
export function namesInUse(db: Db): Pick<ScopeVerbs, "inUse" | "kindsInUse"> {
  const { textsOf } = db.dialect;
  const where = (use: Use, condition: string) =>
    `SELECT 1 AS x FROM ${use.from} WHERE ${[condition, ...(use.live ? [use.live] : [])].join(" AND ")}`;
  const ofProject = [...USES, { ...TASKS, live: "w.closed_at IS NULL" }];
  // A kind may not be lost to closed tasks either: they may be opened again.
  const ofKind = [...USES, TASKS].map((use) => {
    const { workspace = "n.workspace_id", key = "n.index_key" } = use;
    const named = `substr(${key}, 1, length(k.text) + 1) = k.text || ':'`;
    return `EXISTS (${where(use, `${workspace} = ? AND ${named}`)})`;
  });
  return {
    inUse: (projectId) =>
      after(
        db.get(
          `${ofProject.map((use) => where(use, "n.namespace = ?")).join(" UNION ALL ")} LIMIT 1`,
          ...ofProject.map(() => projectId),
        ),
        (row) => row !== undefined,
      ),
    kindsInUse: (workspaceId, kinds) =>
      after(
        db.all<{ kind: string }>(
          `SELECT k.text AS kind FROM (${textsOf}) AS k WHERE ${ofKind.join(" OR ")}`,
          JSON.stringify(kinds),
          ...ofKind.map(() => workspaceId),
        ),
        (rows) => rows.map(({ kind }) => kind),
      ),
  };
}
