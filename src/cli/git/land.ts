import type { Dibs } from "../../client/dibs.js";
import { readConfig } from "../../config.js";
import { EXIT } from "../../contract/errors.js";
import type { Unlanded } from "../../contract/unlanded.js";
import { connect } from "../connect.js";
import type { Output } from "../output.js";
import { type Column, tableLines } from "../shown/table.js";
import { GitAnswers, GitSays } from "./git-answers.js";
import { type Base, baseOf, type Landing, landingOf } from "./landed.js";

interface LandPlan {
  /** Those that are meant; all that are declared where none is named. */
  readonly branches: readonly string[];
  readonly base: string | undefined;
  readonly project: string | undefined;
  readonly fetch: boolean;
  readonly prune: boolean;
  readonly dryRun: boolean;
}

interface Judged extends Landing {
  readonly branch: string;
  readonly unlanded_id: string | null;
  /** Dibs was told. */
  readonly ended: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "BRANCH", text: (row) => String(row.branch) },
  {
    title: "STATE",
    text: (row) => (row.landed ? (row.ended ? "landed, told" : "landed") : "kept"),
    paint: (text, row, { paint }) => (row.landed ? paint.green(text) : paint.dim(text)),
  },
  { title: "WHY", text: (row) => String(row.reason), flexible: true },
];

/** Asks git which branches have landed, and tells Dibs of those. What can't be told is kept, and said why. */
export async function land(plan: LandPlan, output: Output): Promise<number> {
  const connection = await connect(readConfig());
  try {
    const { dibs } = connection;
    const project = plan.project ?? (await connection.project.id()) ?? "default";
    const declared = await declaredIn(dibs, project);
    const names = plan.branches.length > 0 ? [...new Set(plan.branches)] : declared.map(({ branch }) => branch);
    const repository = new GitAnswers(process.cwd());
    const { base, unclear } = await ready(repository, plan);
    const judged: Judged[] = [];
    for (const branch of names) {
      const landing = base ? await landingOf(repository, branch, base) : kept(unclear);
      const work = declared.find((each) => each.branch === branch);
      const ended = landing.landed && work !== undefined && !plan.dryRun;
      if (ended) await dibs.landUnlanded({ unlanded_id: work.id, ...shownBy(landing) });
      judged.push({ branch, ...landing, unlanded_id: work?.id ?? null, ended });
    }
    const pruned = plan.prune ? await prune(dibs, repository, { project, dryRun: plan.dryRun }, declared) : undefined;
    say(output, base, judged, pruned);
    return EXIT.ok;
  } finally {
    await connection.close();
  }
}

const kept = (reason: string): Landing => ({ landed: false, how: null, reason, commit: null });
const shownBy = ({ how, commit }: Landing) => ({ ...(how ? { how } : {}), ...(commit ? { commit } : {}) });

/** All that is declared in the project and hasn't ended; another project's branches are another repository's. */
async function declaredIn(dibs: Dibs, project: string): Promise<Unlanded[]> {
  const input = { limit: 1000, project_id: project };
  const all: Unlanded[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await dibs.call("list_unlanded", { ...input, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.body);
    cursor = page.nextCursor;
    if (cursor === undefined) return all;
  }
}

/** What the branches are to have landed on, or why that isn't clear. */
async function ready(repository: GitAnswers, plan: LandPlan): Promise<{ base?: Base; unclear: string }> {
  if ((await repository.try(["rev-parse", "--git-dir"])) === undefined)
    return { unclear: "there is no git repository here" };
  if (plan.fetch) {
    const offline = await fetched(repository);
    if (offline !== undefined) return { unclear: `offline: ${offline}` };
  }
  const base = await baseOf(repository, plan.base);
  const named = plan.base === undefined ? "no main or master" : `no branch ${plan.base}`;
  return base ? { base, unclear: "" } : { unclear: `there is ${named} here to have landed on` };
}

/** Why it could not be fetched; undefined where it was, or there is nowhere to fetch from. */
async function fetched(repository: GitAnswers): Promise<string | undefined> {
  const remotes = await repository.lines(["remote"]);
  if (remotes.length === 0) return undefined;
  try {
    await repository.ask(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--multiple", "--", ...remotes]);
    return undefined;
  } catch (fault) {
    if (fault instanceof GitSays) return fault.message;
    throw fault;
  }
}

/** Ends what is declared for branches that are neither here nor at a remote; without any branch Dibs refuses. */
async function prune(
  dibs: Dibs,
  repository: GitAnswers,
  { project, dryRun }: { readonly project: string; readonly dryRun: boolean },
  declared: readonly Unlanded[],
): Promise<readonly Unlanded[]> {
  const [any] = await repository.lines([
    "for-each-ref",
    "--count=1",
    "--format=%(refname)",
    "refs/heads",
    "refs/remotes",
  ]);
  const branches = any === undefined ? [] : [any];
  for (const { branch } of declared) if ((await repository.tipsOf(branch)).all.length > 0) branches.push(branch);
  if (dryRun) return declared.filter(({ branch }) => !branches.includes(branch));
  return (await dibs.pruneUnlanded({ branches, project_id: project })).pruned;
}

function say(
  output: Output,
  base: Base | undefined,
  judged: readonly Judged[],
  pruned: readonly Unlanded[] | undefined,
) {
  if (output.json) return output.value({ base: base?.name ?? null, branches: judged, ...(pruned ? { pruned } : {}) });
  const screen = output.screen();
  if (judged.length === 0) output.say("No unlanded work.");
  else output.data(tableLines(COLUMNS, judged as readonly object[] as never, screen));
  if (pruned)
    output.say(`Ended for branches that are no more: ${pruned.map(({ branch }) => branch).join(", ") || "none"}.`);
}
