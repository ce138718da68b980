import { execFile } from "node:child_process";
import { childEnvironment } from "../../config.js";

/** What a hook, or another tool, may have pointed at another repository or index. */
const POINTERS = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"];
/** Nothing asks a person, takes a lock for its own comfort, or fetches by itself. */
const QUIET = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
};
/** Whatever is configured to be left out for a quicker prompt. */
const STATUS = ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=none"];
const ANSWER_MAX_BYTES = 256 * 1024 * 1024;

/** What git printed, as the text it is meant to be. */
export const asText = (latin1: string): string => Buffer.from(latin1, "latin1").toString("utf8");

/** One that git could not answer. */
export class GitSays extends Error {
  override readonly name = "GitSays";
}

/**
 * Questions to git about the repository around a folder, by plumbing alone: answers are split at NUL, names stand behind
 * `--` or as whole refs, and are never read as revisions, options or patterns. Texts are latin1, so that no two names of
 * other bytes become one.
 */
export class GitAnswers {
  constructor(readonly folder: string) {}

  /** What git prints. Throws GitSays where it fails, isn't there or takes over a minute. */
  ask(args: readonly string[], folder = this.folder): Promise<string> {
    const env = { ...childEnvironment(QUIET) };
    for (const name of POINTERS) delete env[name];
    return new Promise((resolve, reject) => {
      const options = { cwd: folder, env, encoding: "latin1", maxBuffer: ANSWER_MAX_BYTES, timeout: 60_000 } as const;
      const all = ["--no-pager", "-c", "core.fsmonitor=false", ...args];
      const answered = (fault: Error | null, out: string, errors: string) => {
        if (fault === null) resolve(out);
        else reject(new GitSays(asText(errors).trim().split("\n")[0] || fault.message));
      };
      // It throws at once of a name with a NUL.
      try {
        execFile("git", all, options, answered).stdin?.end();
      } catch (fault) {
        reject(new GitSays(String(fault)));
      }
    });
  }

  /** The same, with nothing where git fails. */
  async try(args: readonly string[], folder?: string): Promise<string | undefined> {
    return this.ask(args, folder).catch((fault: unknown) => {
      if (fault instanceof GitSays) return undefined;
      throw fault;
    });
  }

  /** The commit that exactly this ref, by its whole name, is at. */
  async commitOf(ref: string): Promise<string | undefined> {
    const hash = await this.try(["show-ref", "--verify", "--hash", "--", ref]);
    return hash === undefined ? undefined : hash.trim();
  }

  /** Names with each other's bytes kept, of what was printed with `-z`. */
  async names(args: readonly string[], folder?: string): Promise<string[]> {
    return (await this.ask(args, folder)).split("\0").filter((name) => name !== "");
  }

  /** What is printed line by line and can hold no line's end: hashes and names of refs and remotes; none where git fails. */
  async lines(args: readonly string[]): Promise<string[]> {
    const text = asText((await this.try(args)) ?? "");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Where the branch of that name is: here, and at each remote as far as was fetched. */
  async tipsOf(branch: string): Promise<{ readonly local: string | undefined; readonly all: readonly string[] }> {
    const local = await this.commitOf(`refs/heads/${branch}`);
    const remotes = await this.lines(["remote"]);
    const there = await Promise.all(remotes.map((remote) => this.commitOf(`refs/remotes/${remote}/${branch}`)));
    const all = [local, ...there].filter((tip) => tip !== undefined);
    return { local, all: [...new Set(all)] };
  }

  /** A worktree of the branch that has uncommitted changes; throws GitSays where git can't tell. */
  async dirtyWorktreeOf(branch: string): Promise<string | undefined> {
    const ref = Buffer.from(`branch refs/heads/${branch}`, "utf8").toString("latin1");
    const listed = await this.ask(["worktree", "list", "--porcelain", "-z"]);
    for (const entry of listed.split("\0\0")) {
      const fields = entry.split("\0");
      const path = fields.find((field) => field.startsWith("worktree "))?.slice("worktree ".length);
      // One that was removed by hand holds no changes any more.
      if (path === undefined || !fields.includes(ref) || fields.some((field) => /^prunable( |$)/.test(field))) continue;
      const folder = asText(path);
      const changed = await this.names(STATUS, folder);
      if (changed.length > 0) return folder;
    }
    return undefined;
  }
}
