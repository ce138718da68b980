import type { NodeRow, PlanRow, PlanVerbs, StepRow } from "../../core/port/plan-verbs.js";
import type { Db } from "./db.js";

const PLAN_COLUMNS = ["id", "workspace_id", "project_id", "slug", "title", "created_by", "created_at"] as const;
const STEP_COLUMNS = ["plan_seq", "key", "task_seq", "definition"] as const;

const NODE = `t.seq, t.id, t.project_id, t.priority, t.requires_verdict, x.content, x.scopes, x.verdict, t.holder_agent, t.status, t.not_before,
  t.open_blockers, t.delegated, t.cancel_requested, t.attempts,
  t.max_attempts, t.lease_until, t.lapsed, s.expires_at AS session_expires_at`;
const JOINED = `JOIN task_texts x ON x.seq = t.seq LEFT JOIN sessions s ON s.id = t.holder_session`;

export function planVerbs(db: Db): PlanVerbs {
  const { join } = db.dialect;
  const ofPlan = `SELECT q.seq FROM tasks q WHERE q.project_id = ? AND q.plan = ?`;
  return {
    insert: (row) => db.insert("plans", PLAN_COLUMNS, row),
    bySlug: (projectId, slug, { lock }) =>
      db.get<PlanRow>(
        `SELECT * FROM plans WHERE project_id = ? AND slug = ? ${lock && db.locks ? "FOR UPDATE" : ""}`,
        projectId,
        slug,
      ),
    list(workspaceId, projectId, page) {
      const [column, value] = projectId === null ? ["workspace_id", workspaceId] : ["project_id", projectId];
      return db.all<PlanRow>(
        `SELECT * FROM plans WHERE ${column} = ? AND seq > ? ORDER BY seq LIMIT ?`,
        value as string,
        page.after?.[0] ?? 0,
        page.limit,
      );
    },
    async insertSteps(planSeq, steps) {
      for (const step of steps) await db.append("plan_steps", STEP_COLUMNS, { ...step, plan_seq: planSeq });
    },
    steps: (planSeq) =>
      db.all<StepRow>("SELECT key, task_seq, definition FROM plan_steps WHERE plan_seq = ? ORDER BY key", planSeq),
    nodes: (plan) =>
      db.all<NodeRow>(
        `SELECT * FROM (
           SELECT ${NODE}, p.key, 1 AS in_plan FROM tasks t ${JOINED}
             LEFT JOIN plan_steps p ON p.plan_seq = ? AND p.task_seq = t.seq WHERE t.seq IN (${ofPlan})
           UNION ALL SELECT ${NODE}, NULL, 0 FROM tasks t ${JOINED} WHERE t.seq IN (
             SELECT d.blocker_seq FROM dependencies d WHERE d.task_seq IN (${ofPlan}))
             AND (t.plan IS NULL OR t.plan <> ? OR t.project_id <> ?)) AS nodes ORDER BY seq`,
        plan.seq,
        plan.project_id,
        plan.slug,
        plan.project_id,
        plan.slug,
        plan.slug,
        plan.project_id,
      ),
    edges: (plan) =>
      db.all(
        `SELECT d.task_seq, d.blocker_seq FROM tasks q ${join} dependencies d ON d.task_seq = q.seq
         WHERE q.project_id = ? AND q.plan = ? ORDER BY d.task_seq, d.blocker_seq`,
        plan.project_id,
        plan.slug,
      ),
  };
}
