import { branchName } from "../../contract/evidence.js";
import { asText, type GitAnswers } from "./git-answers.js";

/** More of them, at 255 bytes each, would not fit into a call's 1 MiB. */
const NAMED_MAX = 4_000;

/**
 * The branches there are, to be named to prune: those here, those that were fetched, and those that the remotes have now, as a
 * clone of one branch, or one whose last fetch is a while ago, knows none of the others. All are named, not only the `declared`
 * ones: what is declared while git is asked is of a branch that git has seen. Throws GitSays where a remote can't be asked.
 */
export async function liveBranches(repository: GitAnswers, declared: readonly string[]): Promise<string[]> {
  const remotes = await repository.lines(["remote"]);
  const known = await repository.lines(["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes"]);
  const roots = ["refs/heads/", ...remotes.map((remote) => `refs/remotes/${remote}/`)];
  const all = new Set(known.flatMap((ref) => nameUnder(roots, ref)));
  for (const remote of remotes) for (const ref of await headsAt(repository, remote)) all.add(ref);
  // What can't be declared needn't be named, and would be refused.
  const names = [...all].filter((name) => branchName.safeParse(name).success);
  if (names.length <= NAMED_MAX) return names;
  const alive = new Set(names);
  return [...names.slice(0, 1), ...declared.filter((branch) => alive.has(branch))];
}

function nameUnder(roots: readonly string[], ref: string): string[] {
  return roots.filter((root) => ref.startsWith(root)).map((root) => ref.slice(root.length));
}

async function headsAt(repository: GitAnswers, remote: string): Promise<string[]> {
  const said = await repository.ask(["ls-remote", "--quiet", "--heads", "--", remote]);
  return asText(said)
    .split("\n")
    .flatMap((line) => nameUnder(["refs/heads/"], line.split("\t")[1] ?? ""));
}
