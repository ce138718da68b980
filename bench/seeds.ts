/** SQL that fills a fresh store's queue. Every task has one label of a hundred; one in 10,000 also has `rare`. */

const NUMBERS = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
const WORKSPACE = "(SELECT id FROM workspaces WHERE name = 'default')";
const PROJECT = `(SELECT id FROM projects WHERE workspace_id = ${WORKSPACE} AND key = 'default')`;

interface Kind {
  readonly count: number;
  readonly priority?: number;
  readonly assignedTo?: string;
  readonly lapsed?: boolean;
}

export function tasksSql({ count, priority = 2, assignedTo = "", lapsed = false }: Kind): string {
  const holder = lapsed ? "(SELECT id FROM agents LIMIT 1)" : "NULL";
  const session = lapsed ? "(SELECT id FROM sessions LIMIT 1)" : "NULL";
  return `
    CREATE TEMP TABLE fresh AS ${NUMBERS(count)} SELECT i, lower(hex(randomblob(16))) AS id FROM n;
    CREATE TEMP TABLE base AS SELECT coalesce(max(seq), 0) AS seq FROM main.tasks;
    INSERT INTO tasks (seq, id, workspace_id, project_id, priority, status, queue, wakes_at, assigned_to, created_by,
      attempts, max_attempts, created_at, updated_at, lease_id, fence, holder_agent, holder_session, claimed_at,
      lease_seconds, lease_until)
    SELECT base.seq + i, id, ${WORKSPACE}, ${PROJECT}, ${priority}, '${lapsed ? "claimed" : "open"}', ${lapsed ? 2 : 1},
      ${lapsed ? 1000 : "NULL"}, '${assignedTo}', 'bench', ${lapsed ? 1 : 0}, 5, 1, 1, ${lapsed ? "id" : "NULL"},
      ${lapsed ? 1 : 0}, ${holder}, ${session}, ${lapsed ? 1 : "NULL"}, ${lapsed ? 300 : "NULL"}, ${lapsed ? 1000 : "NULL"}
    FROM fresh, base;
    INSERT INTO task_texts (seq, content, labels)
    SELECT base.seq + i, 'task number ' || i || ' with a title of usual length',
      CASE WHEN i % 10000 = 5000 THEN '["rare"]' ELSE '[]' END FROM fresh, base;
    INSERT INTO task_labels (seq, label, workspace_id, project_id, queue, assigned_to, priority)
    SELECT base.seq + i, 'rare', ${WORKSPACE}, ${PROJECT}, ${lapsed ? 2 : 1}, '${assignedTo}', ${priority}
    FROM fresh, base WHERE i % 10000 = 5000;
    DROP TABLE fresh; DROP TABLE base`;
}
