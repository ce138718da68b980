import type { ContextVerbs, NamedVersion } from "../../core/port/context-verbs.js";
import { after, type Db } from "./db.js";

const COLUMNS = ["task_seq", "version", "context", "changed", "agent_id", "session_id", "created_at"] as const;
const WRITTEN = "v.version, v.changed, v.agent_id, a.name AS agent_name, v.session_id, v.created_at";
const FROM = "FROM context_versions v JOIN agents a ON a.id = v.agent_id";

export function contextVerbs(db: Db): ContextVerbs {
  return {
    keep: (taskSeq, version, dropTo) =>
      after(db.append("context_versions", COLUMNS, { ...version, task_seq: taskSeq }), () => {
        if (dropTo < 1) return;
        return after(
          db.run("DELETE FROM context_versions WHERE task_seq = ? AND version <= ?", taskSeq, dropTo),
          () => {},
        );
      }),
    version: (taskSeq, version) =>
      db.get<NamedVersion>(
        `SELECT ${WRITTEN}, v.context ${FROM} WHERE v.task_seq = ? AND v.version = ?`,
        taskSeq,
        version,
      ),
    list: (taskSeq, page) =>
      db.all<Omit<NamedVersion, "context">>(
        `SELECT ${WRITTEN} ${FROM} WHERE v.task_seq = ? AND v.version < ? ORDER BY v.version DESC LIMIT ?`,
        taskSeq,
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
        page.limit,
      ),
  };
}
