import type { FamilyVerbs, MemberRow } from "../../core/port/family-verbs.js";
import type { TaskRow } from "../../core/port/rows.js";
import { after, type Db } from "./db.js";
import { SELECT_TASK } from "./read-tasks.js";

/** A task's parent is older than it, so that no walk goes round. */
export function familyVerbs(db: Db): FamilyVerbs {
  return {
    root: (id) =>
      after(
        db.get<{ id: string }>(
          `WITH RECURSIVE up (id, parent_id) AS (SELECT id, parent_id FROM tasks WHERE id = ?
             UNION ALL SELECT p.id, p.parent_id FROM up JOIN tasks p ON p.id = up.parent_id)
           SELECT id FROM up WHERE parent_id IS NULL`,
          id,
        ),
        (row) => row?.id ?? id,
      ),
    members: (rootId, limit) =>
      db.all<MemberRow>(
        `WITH RECURSIVE down (seq, id, depth, parent_seq) AS (SELECT seq, id, 0, seq FROM tasks WHERE id = ?
           UNION ALL SELECT c.seq, c.id, down.depth + 1, down.seq FROM down JOIN tasks c ON c.parent_id = down.id)
         SELECT seq, depth, CASE WHEN EXISTS (SELECT 1 FROM dependencies e
           WHERE e.task_seq = down.parent_seq AND e.blocker_seq = down.seq) THEN 1 ELSE 0 END AS delegated
         FROM down LIMIT ?`,
        rootId,
        limit,
      ),
    rows: (seqs) =>
      db.all<TaskRow>(`${SELECT_TASK} WHERE t.seq IN (${db.dialect.numbersOf}) ORDER BY t.seq`, JSON.stringify(seqs)),
  };
}
