import type { Evidence, Verdict } from "../../contract/evidence.js";
import { shown } from "./shown-text.js";

type Row = Readonly<Record<string, unknown>>;

/** How a task or a step was judged, in a word or two; undefined where it wasn't. */
export function verdictWord(row: Row): string | undefined {
  const { verdict } = row;
  // A step has its outcome, a task the whole verdict.
  if (typeof verdict === "string") return row.verdict_stale === true ? "stale" : verdict;
  if (typeof verdict !== "object" || verdict === null) return undefined;
  const { outcome, stale } = verdict as Verdict;
  return stale ? "stale" : outcome;
}

const about = ({ commit, branch, stale }: Pick<Verdict, "commit" | "branch" | "stale">) => [
  ...(commit === null ? [] : [`at ${commit.slice(0, 12)}${branch === null ? "" : ` on ${branch}`}`]),
  ...(stale ? ["stale: the branch has moved on"] : []),
];

/** Verdict and evidence on one line each; undefined for other fields. */
export function judgedLine(field: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (field === "verdict" && "outcome" in value) {
    const verdict = value as Verdict;
    return shown([verdict.outcome, ...about(verdict), ...(verdict.note === null ? [] : [verdict.note])].join(" · "));
  }
  if (field !== "evidence" || !("kind" in value)) return undefined;
  const { kind, ref, url, title, detail, ...tie } = value as Evidence;
  const own = kind === "commit" ? { ...tie, commit: null } : tie;
  return shown([kind, ...[ref, title, url, detail].filter((text) => text !== null), ...about(own)].join(" · "));
}
