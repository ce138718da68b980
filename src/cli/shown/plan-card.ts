import type { Plan } from "../../contract/plan.js";
import { columnsFor } from "./rows.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";
import { tableLines } from "./table.js";

type Progress = Plan["progress"];

const BAR_WIDTH = 24;
/** Of a longer chain the middle is left out. */
const PATH_ENDS = 6;

/** A plan for people: how far it is, what bounds it, and its steps by their keys. */
export function planCard(plan: Plan, screen: Screen): string[] {
  const keys = new Map(plan.steps.map((step) => [step.task_id, step.key ?? step.task_id.slice(0, 8)]));
  const name = (id: string) => keys.get(id) ?? `${id.slice(0, 8)} (outside)`;
  const rows = plan.steps.map((step) => ({ ...step, waits_for: step.waits_for.map(name).join(", ") }));
  const { bold, dim } = screen.paint;
  return [
    `${bold(shown(plan.slug))}${plan.title === null ? "" : `  ${shown(plan.title)}`}`,
    ...progressLines(plan.progress, screen),
    ...boundLines(plan, name).map((line) => `  ${dim(line[0])}  ${line[1]}`),
    "",
    ...(rows.length === 0 ? [dim("No steps.")] : tableLines(columnsFor.step, rows, screen)),
  ];
}

function progressLines(progress: Progress, { paint }: Screen): string[] {
  const { completed, total } = progress;
  // Rounded down: the bar is full when the plan is done, not before.
  const filled = total === 0 ? 0 : Math.floor((completed / total) * BAR_WIDTH);
  const bar = paint.green("█".repeat(filled)) + paint.dim("░".repeat(BAR_WIDTH - filled));
  const percent = total === 0 ? 0 : Math.floor((completed / total) * 100);
  return [`  ${bar}  ${percent} % · ${progressWords(progress).join(", ")}`];
}

/** What the counts say in words, what is zero left out. */
export function progressWords(progress: Progress): string[] {
  const said: readonly [keyof Progress, string][] = [
    ["claimable", "claimable now"],
    ["in_flight", "in flight"],
    ["blocked", "blocked"],
    ["scheduled", "scheduled"],
    ["frozen", "frozen"],
    ["stalled", "stalled"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
  ];
  const rest = said.filter(([field]) => progress[field] > 0).map(([field, words]) => `${progress[field]} ${words}`);
  return [`${progress.completed} of ${progress.total} completed`, ...rest];
}

function boundLines(
  { critical_path: path, progress, ...plan }: Plan,
  name: (id: string) => string,
): [string, string][] {
  if (path.length === 0) return [];
  const ends =
    path.length > 2 * PATH_ENDS
      ? [
          ...path.slice(0, PATH_ENDS).map(name),
          `… ${path.length - 2 * PATH_ENDS} more …`,
          ...path.slice(-PATH_ENDS).map(name),
        ]
      : path.map(name);
  const chain = `${path.length} ${path.length === 1 ? "step" : "steps"}: ${ends.join(" → ")}`;
  return [
    ["longest chain", shown(chain)],
    ["at once      ", `${widthWords(plan)}; of ${progress.claimable} claimable now ${plan.claimable_at_once}`],
  ];
}

/** How many steps run at once, at the widest place of what is left. */
export function widthWords({
  widest_front: front,
  widest_front_with_scopes: scoped,
}: Pick<Plan, "widest_front" | "widest_front_with_scopes">): string {
  return front === scoped ? `${front} at most` : `${scoped} with their scopes, ${front} at most without`;
}
