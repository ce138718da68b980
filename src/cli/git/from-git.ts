import { usage } from "../failure.js";
import { checkedOut } from "./checked-out.js";
import { repositoryHere, toldOf } from "./repository-here.js";

type Input = Readonly<Record<string, unknown>>;

/** Which fields a command takes from the repository around it, where they aren't given. */
export type FromGit =
  /** The commit and branch that a verdict or evidence is about, and that the branch is there now. */
  | "said"
  /** The branch and its head: without them there is nothing to say. */
  | "head"
  /** The repository itself. */
  | "repository";

/** The input with what git knows, and what its user should hear of that. Throws a usage error where git is needed and isn't there. */
export function withGit(how: FromGit, input: Input, folder: string): { input: Input; says: string[] } {
  if (how === "repository") return { input: withRepository(input, folder), says: [] };
  const given = [input.commit, input.branch].filter((field) => field !== undefined).length;
  if (how === "said") {
    const tied = input.verdict !== undefined || input.evidence !== undefined;
    const found = tied && given === 0 ? checkedOut(folder) : undefined;
    if (!found) return { input, says: [] };
    const { commit, branch, changed } = found;
    const head = branch === undefined ? {} : { branch, is_head: true };
    return { input: { commit, ...head, ...input }, says: changed ? [uncommitted(commit)] : [] };
  }
  if (given === 2) return { input, says: [] };
  const found = checkedOut(folder);
  if (found?.branch === undefined || given === 1) throw usage(NO_HEAD).error;
  const { commit, branch } = found;
  return { input: { commit, branch, ...input }, says: [] };
}

function withRepository(input: Input, folder: string): Input {
  const told = [input.project, input.remote, input.root_commit].some((field) => field !== undefined);
  const here = told ? undefined : repositoryHere(folder);
  return here ? { ...toldOf(here), ...input } : input;
}

const NO_HEAD = "Say both --branch and --commit, or neither in a git repository that has a branch checked out.";

const uncommitted = (commit: string) =>
  `Note: the working tree has changes that commit ${commit.slice(0, 12)}, which this is said of, doesn't have.`;
