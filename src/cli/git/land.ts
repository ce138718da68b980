import type { Dibs } from "../../client/dibs.js";
import { readConfig } from "../../config.js";
import { type DibsError, EXIT, isDibsError } from "../../contract/errors.js";
import type { Unlanded } from "../../contract/unlanded.js";
import { connect } from "../connect.js";
import { failureOf } from "../failure.js";
import type { Output } from "../output.js";
import { shown } from "../shown/shown-text.js";
import { type Column, tableLines } from "../shown/table.js";
import { GitAnswers, GitSays } from "./git-answers.js";
import { type Base, baseOf, type Landing, landingOf } from "./landed.js";
import { liveBranches } from "./live-branches.js";

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
  /** Why it could not be told. */
  readonly error?: object;
}

const COLUMNS: readonly Column[] = [
  { title: "BRANCH", text: (row) => String(row.branch) },
  {
    title: "STATE",
    text: (row) => (row.landed ? (row.ended ? "landed, told" : row.error ? "landed, not told" : "landed") : "kept"),
    paint: (text, row, { paint }) => (row.error ? paint.red : row.landed ? paint.green : paint.dim)(text),
  },
  {
    title: "WHY",
    text: ({ reason, error }) => String(error ? (error as { detail?: string }).detail : reason),
    flexible: true,
  },
];

/**
 * Asks git which branches have landed, and tells Dibs of those. What can't be told is kept, and said why. Where Dibs refuses
 * one, the others are told all the same; the exit status is that of the first refusal.
 */
export async function land(plan: LandPlan, output: Output): Promise<number> {
  const connection = await connect(readConfig());
  try {
    const { dibs } = connection;
    const project = plan.project ?? (await connection.project.id()) ?? "default";
    const declared = await declaredIn(dibs, project);
    const names = plan.branches.length > 0 ? [...new Set(plan.branches)] : declared.map(({ branch }) => branch);
    const repository = new GitAnswers(process.cwd());
    const { base, unclear, offline } = await ready(repository, plan);
    const judged: Judged[] = [];
    const telling = new Telling();
    for (const branch of names) {
      const landing = base ? await landingOf(repository, branch, base) : kept(unclear);
      const work = declared.find((each) => each.branch === branch);
      const known = { branch, ...landing, unlanded_id: work?.id ?? null };
      if (!landing.landed || !work || plan.dryRun) judged.push({ ...known, ended: false });
      else judged.push({ ...known, ...(await telling.of({ unlanded_id: work.id, ...shownBy(landing) }, dibs)) });
    }
    const asked = { project, dryRun: plan.dryRun, offline };
    const pruned = plan.prune ? await telling.try(() => prune(dibs, repository, asked, declared)) : undefined;
    say(output, { base, judged, pruned });
    return telling.refused?.exit ?? EXIT.ok;
  } finally {
    await connection.close();
  }
}

/** Whoever can't be reached, or doesn't know the caller, needn't be asked again. */
const FOR_ALL: readonly number[] = [EXIT.auth, EXIT.unreachable, EXIT.timedOut];

/** What Dibs is told, and what it said to that. */
class Telling {
  /** The first refusal. */
  refused: DibsError | undefined;
  #over: DibsError | undefined;

  /** What came of it; of a refusal that the others would get as well, they get it at once. */
  async try<T>(what: () => Promise<T>): Promise<T | DibsError> {
    if (this.#over) return this.#over;
    try {
      return await what();
    } catch (thrown) {
      if (!isDibsError(thrown)) throw thrown;
      this.refused ??= thrown;
      if (FOR_ALL.includes(thrown.exit)) this.#over = thrown;
      return thrown;
    }
  }

  async of(landed: Parameters<Dibs["landUnlanded"]>[0], dibs: Dibs): Promise<Pick<Judged, "ended" | "error">> {
    const told = await this.try(() => dibs.landUnlanded(landed));
    return isDibsError(told) ? { ended: false, error: told.toProblem() } : { ended: true };
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
async function ready(
  repository: GitAnswers,
  plan: LandPlan,
): Promise<{ base?: Base; unclear: string; offline?: string }> {
  if ((await repository.try(["rev-parse", "--git-dir"])) === undefined)
    return { unclear: "there is no git repository here" };
  if (plan.fetch) {
    const fault = await fetched(repository);
    const offline = `offline: ${fault}`;
    if (fault !== undefined) return { unclear: offline, offline };
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

/** What was ended for branches that are no more, or why that can't be told. */
interface Pruned {
  readonly ended: readonly Unlanded[];
  readonly unclear?: string;
}

/**
 * Ends what is declared for branches that are neither here nor at a remote. Nothing where a remote can't be asked; without
 * any branch Dibs refuses.
 */
async function prune(
  dibs: Dibs,
  repository: GitAnswers,
  how: { readonly project: string; readonly dryRun: boolean; readonly offline: string | undefined },
  declared: readonly Unlanded[],
): Promise<Pruned> {
  if (how.offline !== undefined) return { ended: [], unclear: how.offline };
  const asked = declared.map(({ branch }) => branch);
  const branches = await liveBranches(repository, asked).catch((fault: unknown) => {
    if (fault instanceof GitSays) return fault;
    throw fault;
  });
  if (branches instanceof GitSays) return { ended: [], unclear: `offline: ${branches.message}` };
  if (!how.dryRun) return { ended: (await dibs.pruneUnlanded({ branches, project_id: how.project })).pruned };
  if (branches.length === 0) return { ended: [], unclear: "there is no branch here at all" };
  return { ended: declared.filter(({ branch }) => !branches.includes(branch)) };
}

interface Said {
  readonly base: Base | undefined;
  readonly judged: readonly Judged[];
  readonly pruned: Pruned | DibsError | undefined;
}

function say(output: Output, { base, judged, pruned }: Said) {
  if (output.json) {
    return output.value({ base: base?.name ?? null, branches: judged, ...prunedValue(pruned) });
  }
  const screen = output.screen();
  if (judged.length === 0) output.say("No unlanded work.");
  else output.data(tableLines(COLUMNS, judged as readonly object[] as never, screen));
  if (isDibsError(pruned)) output.failure(failureOf(pruned));
  else if (pruned?.unclear) output.say(`Kept, whatever branches are no more: ${shown(pruned.unclear)}.`);
  else if (pruned) {
    const names = pruned.ended.map(({ branch }) => shown(branch)).join(", ");
    output.say(`Ended for branches that are no more: ${names || "none"}.`);
  }
}

function prunedValue(pruned: Said["pruned"]): object {
  if (pruned === undefined) return {};
  if (isDibsError(pruned)) return { error: pruned.toProblem() };
  return { pruned: pruned.ended, ...(pruned.unclear === undefined ? {} : { not_pruned: pruned.unclear }) };
}
