import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const AUTHOR = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };

/** Nothing of what is configured on the machine. */
const BARE = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

/** A git repository of the test's own, made by git. */
export class GitRepository {
  constructor(readonly path: string) {}

  /** An empty one on main. */
  static init(path: string): GitRepository {
    mkdirSync(path, { recursive: true });
    const made = new GitRepository(path);
    made.git("init", "-q", "-b", "main");
    return made;
  }

  /** One with a first commit that no other has. */
  static withCommit(path: string): GitRepository {
    const made = GitRepository.init(path);
    made.commit("src/a.ts", `// ${path}\n`);
    return made;
  }

  git(...args: string[]): string {
    const env = { ...process.env, ...AUTHOR, ...BARE };
    return execFileSync("git", args, { cwd: this.path, encoding: "utf8", env }).trim();
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), text);
  }

  commit(name: string, text: string): string {
    this.write(name, text);
    this.git("add", name);
    this.git("commit", "-q", "-m", name);
    return this.git("rev-parse", "HEAD");
  }

  /** Another worktree, on a branch that is called as its folder is. */
  worktree(path: string): GitRepository {
    this.git("worktree", "add", "-q", "-b", basename(path), path);
    return new GitRepository(path);
  }

  clone(path: string, ...flags: string[]): GitRepository {
    this.git("clone", "-q", ...flags, this.path, path);
    return new GitRepository(path);
  }
}
