import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { remoteName } from "../../contract/remote-name.js";
import type { Context, Handler } from "../context.js";
import { DEFAULT_PROJECT } from "../identity.js";
import type { RepositoryRow } from "../port/repository-verbs.js";
import type { ProjectRow } from "../port/rows.js";
import { addProject, projectView } from "./projects.js";

type Input = z.output<Operations["project_for_repository"]["input"]>;
type Project = Omit<ProjectRow, "seq">;

/** What is said of a repository, and what of that is known. */
interface Told {
  readonly remote: string | undefined;
  readonly root: string | undefined;
  readonly byRemote: RepositoryRow | undefined;
  readonly byRoot: RepositoryRow | undefined;
}

/**
 * The project of a repository (R64), found or made. It changes who meets where, so that its transaction holds off every
 * other writer of the store: two calls at one instant, wherever, find one project.
 */
export const project_for_repository: Handler<Input> = async (context, input) => {
  const told = await lookedUp(context, input);
  const found = input.project === undefined ? await known(context, told) : await context.project(input.project);
  const first = found ?? (input.project === undefined ? await defaultForFirst(context) : undefined);
  const project = first ?? (await addProject(context, await named(context, input, told.remote)));
  await bind(context, told, project, input.project !== undefined);
  return { body: await projectView(context, project), ...(first ? { otherwise: true as const } : {}) };
};

async function lookedUp(context: Context, input: Input): Promise<Told> {
  const remote = input.remote === undefined ? undefined : remoteName(input.remote);
  if (input.remote !== undefined && remote === undefined)
    throw invalidInput("remote", "must be the address of a git repository that others reach by it, too");
  const root = input.root_commit === undefined ? undefined : `root:${input.root_commit.toLowerCase()}`;
  const names = [remote, root].filter((name) => name !== undefined);
  if (names.length === 0 && input.project === undefined)
    throw invalidInput(
      "remote",
      "or root_commit or project must be given: what has no commit and no remote yet has no project of its own",
    );
  const rows = names.length === 0 ? [] : await context.tx.repositories.named(context.workspaceId, names);
  const by = (name: string | undefined) => rows.find(({ identity }) => identity === name);
  return { remote, root, byRemote: by(remote), byRoot: by(root) };
}

/** By its remote, else by its first commit, unless that is known with another remote: then this is a fork. */
async function known(context: Context, { remote, byRemote, byRoot }: Told): Promise<Project | undefined> {
  const row = byRemote ?? (byRoot && isSame(byRoot, remote) ? byRoot : undefined);
  return row && context.project(row.project_id);
}

/** A folder of one machine may get a remote that all reach: it is no fork of itself then. */
function isSame(root: RepositoryRow, remote: string | undefined): boolean {
  if (remote === undefined || root.remote === null || root.remote === remote) return true;
  return root.remote.startsWith("file:") && !remote.startsWith("file:");
}

/** So that whoever has one repository meets those who name no project, as over HTTP. */
async function defaultForFirst(context: Context): Promise<Project | undefined> {
  if (await context.tx.repositories.any(context.workspaceId)) return undefined;
  return context.project(DEFAULT_PROJECT);
}

/**
 * Where the repository itself says its project, worktrees of branches that don't have that file yet are meant, too: what
 * it is known by moves. A first commit that came with a remote is only a hint, and stays where it was.
 */
async function bind(context: Context, told: Told, project: Project, says: boolean): Promise<void> {
  const { remote, root, byRemote, byRoot } = told;
  const put = (identity: string, its: string | null) =>
    context.tx.repositories.put({
      workspace_id: context.workspaceId,
      identity,
      remote: its,
      project_id: project.id,
      created_at: context.nowMs,
    });
  if (remote !== undefined && (!byRemote || (says && byRemote.project_id !== project.id))) await put(remote, null);
  if (root === undefined) return;
  const moves = says && remote === undefined && byRoot?.project_id !== project.id;
  const adopts = remote !== undefined && byRoot && byRoot.remote !== remote && isSame(byRoot, remote);
  if (!byRoot || moves || adopts) await put(root, remote ?? byRoot?.remote ?? null);
}

const KEY_MAX = 100;

/** A project's key and name, made of what the repository is called; a key that is taken gets a number. */
async function named(context: Context, input: Input, remote: string | undefined) {
  const name = input.name ?? remote?.slice(remote.lastIndexOf("/") + 1) ?? "repository";
  if (input.project !== undefined) return { key: input.project, name: input.name ?? input.project };
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^-+|-+$/g, "");
  const wanted = plain.slice(0, KEY_MAX - 8) || "repository";
  for (let nth = 1; ; nth += 1) {
    const key = nth === 1 ? wanted : `${wanted}-${nth}`;
    if (!(await context.project(key))) return { key, name };
  }
}
