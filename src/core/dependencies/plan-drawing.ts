import { titled } from "../quoted.js";

export interface DrawnNode {
  readonly task_id: string;
  readonly key: string | null;
  readonly content: string;
  readonly status: string;
  readonly ready: boolean;
  readonly blocked: boolean;
  readonly frozen: boolean;
  readonly stalled: boolean;
  readonly verdict: string | null;
  readonly verdict_stale: boolean;
}
export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
}

/** Fill and border of each state, which stands in words beside the title too. */
const COLOURS: Record<string, readonly [fill: string, stroke: string]> = {
  completed: ["#d3f0d8", "#2f7d3e"],
  claimed: ["#cfe3fb", "#1f5fae"],
  ready: ["#ffffff", "#1f5fae"],
  blocked: ["#f1f1f1", "#8a8a8a"],
  scheduled: ["#f1f1f1", "#5f6fa8"],
  frozen: ["#e3f4f7", "#2a7f93"],
  stalled: ["#fbe0c4", "#b3590a"],
  delegated: ["#e7dcf8", "#6a3fb0"],
  failed: ["#f9d0d0", "#b02a2a"],
  cancelled: ["#e3e3e3", "#6b6b6b"],
};

function look(node: DrawnNode): string {
  if (node.stalled) return "stalled";
  if (node.status !== "open") return node.status;
  if (node.blocked) return "blocked";
  if (node.frozen) return "frozen";
  return node.ready ? "ready" : "scheduled";
}

function words(node: DrawnNode): string {
  const judged = node.verdict === null ? [] : [node.verdict_stale ? `${node.verdict}, stale` : node.verdict];
  return [titled(node.content), look(node), ...judged].join(" · ");
}

/** Text for Mermaid. Titles are data: whatever means something to it is written as an entity. */
export function mermaid(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  const names = new Map(nodes.map((node, at) => [node.task_id, `n${at}`]));
  const text = (title: string) =>
    title.replace(/[^\p{L}\p{N}\p{M} ._,:;()·…/+-]/gu, (sign) => (sign === "\n" ? " " : `#${sign.codePointAt(0)};`));
  const used = new Set(nodes.map(look));
  return [
    "flowchart TD",
    ...nodes.map((node) => `  ${names.get(node.task_id)}["${text(words(node))}"]:::${look(node)}`),
    ...edges.map(({ from, to }) => `  ${names.get(from)} --> ${names.get(to)}`),
    ...Object.entries(COLOURS)
      .filter(([state]) => used.has(state))
      .map(([state, [fill, stroke]]) => `  classDef ${state} fill:${fill},stroke:${stroke},color:#111`),
    "",
  ].join("\n");
}

/** Text for Graphviz. */
export function dot(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  const text = (title: string) => JSON.stringify(title.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " "));
  return [
    "digraph plan {",
    '  node [shape=box, style="rounded,filled", fontname="Helvetica"];',
    ...nodes.map((node) => {
      const [fill, stroke] = COLOURS[look(node)] ?? ["#ffffff", "#111111"];
      return `  "${node.task_id}" [label=${text(words(node))}, fillcolor="${fill}", color="${stroke}"];`;
    }),
    ...edges.map(({ from, to }) => `  "${from}" -> "${to}";`),
    "}",
    "",
  ].join("\n");
}
