import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Plan } from "../../contract/plan.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { grouped } from "../grouped.js";
import { frozenAmong } from "../holds/frozen.js";
import type { NodeRow, PlanRow } from "../port/plan-verbs.js";
import { verdictOf } from "../tasks/evidence.js";
import { headsOf } from "../tasks/head-reports.js";
import { type Heads, isStale } from "../tasks/heads.js";
import { isBroken, taskState } from "../tasks/task-state.js";
import { iso } from "../tasks/task-view.js";
import { heldAtOnce, PATTERNS_TRIED_MAX, touchingOf } from "./at-once.js";
import { dot, mermaid } from "./plan-drawing.js";
import { type Bounds, boundsOf, type Edge } from "./plan-graph.js";
import { planOf } from "./plan-named.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** A plan's tasks with their states at this instant, and what they wait for. */
interface Drawn {
  readonly nodes: readonly NodeRow[];
  readonly edges: readonly Edge[];
  readonly bySeq: ReadonlyMap<number, NodeRow>;
  readonly stalled: ReadonlySet<number>;
  /** For who asks. */
  readonly frozen: ReadonlySet<number>;
  /** Of the branches that its steps were judged on. */
  readonly heads: Heads;
}

async function drawn(context: Context, plan: PlanRow): Promise<Drawn> {
  const nodes = await context.tx.plans.nodes(plan);
  const edges = await context.tx.plans.edges(plan);
  const bySeq = new Map(nodes.map((node) => [node.seq, node]));
  const broken = new Set(nodes.filter((node) => isBroken(node, context.nowMs)).map(({ seq }) => seq));
  const stalled = new Set<number>();
  for (const { task_seq, blocker_seq } of edges) {
    const task = bySeq.get(task_seq);
    if (broken.has(blocker_seq) && task && taskState(task, context.nowMs).waits) stalled.add(task_seq);
  }
  const heads = await headsOf(
    context,
    nodes.map(({ project_id, verdict }) => ({ project_id, verdict, evidence: null })),
  );
  return { nodes, edges, bySeq, stalled, frozen: await frozenAmong(context, nodes), heads };
}

const isOpen = (status: string) => status === "open" || status === "claimed" || status === "delegated";

/** How many can run at once: now, and at the widest place of what is left, without their scopes and with them (R27). */
async function widthsOf(
  context: Context,
  { bySeq, frozen }: Drawn,
  open: readonly NodeRow[],
  fronts: Bounds["fronts"],
) {
  const touching = await touchingOf(context, open);
  const states = open.map((node) => ({ node, state: taskState(node, context.nowMs, frozen.has(node.seq)) }));
  const nodesOf = (among: typeof states) => among.map(({ node }) => node);
  const ready = nodesOf(states.filter(({ state }) => state.ready));
  const held = nodesOf(states.filter(({ state }) => state.held));
  const tries = { left: PATTERNS_TRIED_MAX };
  let [widest, widestWithScopes] = [0, 0];
  for (const front of fronts) {
    widest = Math.max(widest, front.length);
    // What isn't wider without them isn't with them.
    if (front.length <= widestWithScopes) continue;
    const nodes = front.flatMap((seq) => bySeq.get(seq) ?? []);
    widestWithScopes = Math.max(widestWithScopes, heldAtOnce(touching, nodes, [], tries));
  }
  return {
    claimable_at_once: heldAtOnce(touching, ready, held),
    widest_front: widest,
    widest_front_with_scopes: widestWithScopes,
  };
}

function progressOf({ nodes, stalled, frozen }: Drawn, nowMs: number): Plan["progress"] {
  const counts = {
    total: 0,
    completed: 0,
    claimable: 0,
    in_flight: 0,
    blocked: 0,
    stalled: 0,
    scheduled: 0,
    frozen: 0,
    failed: 0,
    cancelled: 0,
  };
  for (const node of nodes) {
    if (node.in_plan === 0) continue;
    const state = taskState(node, nowMs, frozen.has(node.seq));
    counts.total += 1;
    if (state.status === "completed" || state.status === "failed" || state.status === "cancelled")
      counts[state.status] += 1;
    else if (stalled.has(node.seq)) counts.stalled += 1;
    else if (state.status !== "open") counts.in_flight += 1;
    else if (state.blocked) counts.blocked += 1;
    else if (state.ready) counts.claimable += 1;
    else if (state.frozen) counts.frozen += 1;
    else counts.scheduled += 1;
  }
  return counts;
}

function rowView(plan: PlanRow, drawing: Drawn, nowMs: number) {
  return {
    id: plan.id,
    slug: plan.slug,
    title: plan.title,
    project_id: plan.project_id,
    created_by_agent_id: plan.created_by,
    created_at: iso(plan.created_at),
    progress: progressOf(drawing, nowMs),
  };
}

function nodeView(node: NodeRow, { stalled, frozen, heads }: Drawn, nowMs: number) {
  const state = taskState(node, nowMs, frozen.has(node.seq));
  const verdict = verdictOf(node);
  return {
    key: node.key,
    task_id: node.id,
    content: node.content,
    status: state.status,
    ready: state.ready,
    blocked: state.blocked,
    frozen: state.frozen,
    stalled: stalled.has(node.seq),
    claimed_by_agent_id: state.held ? node.holder_agent : null,
    requires_verdict: node.requires_verdict === 1,
    verdict: verdict === null ? null : verdict.outcome,
    verdict_stale: verdict !== null && isStale(heads, node.project_id, verdict),
  };
}

export async function planView(context: Context, plan: PlanRow): Promise<Plan> {
  const { nowMs } = context;
  const drawing = await drawn(context, plan);
  const { nodes, edges, bySeq } = drawing;
  const inPlan = nodes.filter((node) => node.in_plan === 1);
  const open = inPlan.filter((node) => isOpen(taskState(node, nowMs).status));
  const { criticalPath, fronts } = boundsOf(
    open.map(({ seq }) => seq),
    edges,
  );
  const idOf = (seq: number) => bySeq.get(seq)?.id ?? [];
  const waits = grouped(edges, (edge) => edge.task_seq);
  return {
    ...rowView(plan, drawing, nowMs),
    critical_path: criticalPath.flatMap(idOf),
    ...(await widthsOf(context, drawing, open, fronts)),
    steps: inPlan.map((node) => ({
      ...nodeView(node, drawing, nowMs),
      waits_for: (waits.get(node.seq) ?? []).flatMap(({ blocker_seq }) => idOf(blocker_seq)),
    })),
  };
}

export const get_plan: Handler<Input<"get_plan">> = async (context, input) => ({
  body: await planView(context, await planOf(context, input.slug, input.project_id)),
});

export const list_plans: Handler<Input<"list_plans">> = async (context, input) => {
  const page = pageOf("plans", input);
  const projectId = input.project_id === undefined ? null : (await projectOf(context, input.project_id)).id;
  const rows = await context.tx.plans.list(context.workspaceId, projectId, page);
  const body = [];
  for (const row of rows) body.push(rowView(row, await drawn(context, row), context.nowMs));
  return { body, ...cursorAfter("plans", rows, page, (row) => [row.seq]) };
};

export const get_plan_graph: Handler<Input<"get_plan_graph">> = async (context, input) => {
  const drawing = await drawn(context, await planOf(context, input.slug, input.project_id));
  const nodes = drawing.nodes.map((node) => ({
    ...nodeView(node, drawing, context.nowMs),
    in_plan: node.in_plan === 1,
  }));
  const edges = drawing.edges.flatMap(({ task_seq, blocker_seq }) => {
    const [from, to] = [drawing.bySeq.get(blocker_seq)?.id, drawing.bySeq.get(task_seq)?.id];
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });
  const { format } = input;
  const text = format === "mermaid" ? mermaid(nodes, edges) : format === "dot" ? dot(nodes, edges) : null;
  return { body: { format, nodes, edges, text } };
};
