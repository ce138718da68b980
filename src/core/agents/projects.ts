import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { remoteName } from "../../contract/remote-name.js";
import { settings as settingsSchema } from "../../contract/workspace.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { DEFAULT_PROJECT } from "../identity.js";
import { newId } from "../ids.js";
import type { ProjectRow, WorkspaceRow } from "../port/rows.js";
import type { Page } from "../port/verbs.js";
import { mayHaveKinds } from "../scopes/own-kinds.js";
import { iso } from "../tasks/task-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** The project named (by id or key), the session's, or the default one. */
export async function projectOf(context: Context, named: string | undefined): Promise<ProjectRow> {
  const wanted = named ?? context.session?.project_id ?? DEFAULT_PROJECT;
  const project = await context.project(wanted);
  if (project) return project;
  throw new DibsError(
    "not_found",
    `There is no project ${wanted}; see GET /v1/projects, or make it: create_project.`,
    {},
  );
}

/** A project as it is shown. */
export async function projectView(context: Context, row: Omit<ProjectRow, "seq">) {
  const [view] = await projectViews(context, [row]);
  if (!view) throw new Error("A project has a view.");
  return view;
}

async function projectViews(context: Context, rows: readonly Omit<ProjectRow, "seq">[]) {
  const known = rows.length === 0 ? [] : await context.tx.repositories.ofProjects(rows.map(({ id }) => id));
  return rows.map(({ id, key, name, case_insensitive, created_at }) => ({
    id,
    key,
    name,
    case_insensitive: case_insensitive === 1,
    repositories: known.filter((row) => row.project_id === id).map(({ identity }) => identity),
    created_at: iso(created_at),
  }));
}

async function refuseTakenKey(context: Context, key: string, ownId?: string): Promise<void> {
  const taken = await context.tx.workspaces.project(context.workspaceId, key);
  if (taken && taken.id !== ownId) {
    throw new DibsError("already_exists", `There is a project ${key} already (${taken.id}).`, {});
  }
}

export const create_project: Handler<Input<"create_project">> = async (context, input) => {
  await refuseTakenKey(context, input.key);
  return { body: await projectView(context, await addProject(context, input)) };
};

/** Adds a project whose key is free. */
export async function addProject(
  context: Context,
  { key, name = key, case_insensitive = false }: Input<"create_project">,
): Promise<Omit<ProjectRow, "seq">> {
  const row = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    key,
    name,
    case_insensitive: Number(case_insensitive),
    created_at: context.nowMs,
  };
  await context.tx.workspaces.insertProject(row);
  return row;
}

export const list_projects: Handler<Input<"list_projects">> = async (context, input) => {
  const page = pageOf("projects", input);
  const rows =
    input.repository === undefined
      ? await context.tx.workspaces.projects(context.workspaceId, page)
      : await ofRepository(context, input.repository, page);
  return { body: await projectViews(context, rows), ...cursorAfter("projects", rows, page, (row) => [row.seq]) };
};

/** The project that the repository belongs to, which is behind the page's beginning or there is none. */
async function ofRepository(context: Context, repository: string, page: Page): Promise<ProjectRow[]> {
  const identity = /^root:/.test(repository) ? repository.toLowerCase() : remoteName(repository);
  const [known] = identity === undefined ? [] : await context.tx.repositories.named(context.workspaceId, [identity]);
  const row = known && (await context.tx.workspaces.project(context.workspaceId, known.project_id));
  return row && row.seq > (page.after?.[0] ?? 0) ? [row] : [];
}

export const get_project: Handler<Input<"get_project">> = async (context, input) => ({
  body: await projectView(context, await projectOf(context, input.project_id)),
});

export const update_project: Handler<Input<"update_project">> = async (context, input) => {
  const row = await projectOf(context, input.project_id);
  if (input.key !== undefined) await refuseTakenKey(context, input.key, row.id);
  const { key = row.key, name = row.name } = input;
  const caseInsensitive = input.case_insensitive === undefined ? row.case_insensitive : Number(input.case_insensitive);
  if (caseInsensitive !== row.case_insensitive && (await context.tx.scopes.inUse(row.id))) {
    const why =
      "can't be changed while scopes of the project are held, waited for, frozen, given places, or declared, by tasks that aren't closed or for unlanded work";
    throw invalidInput("case_insensitive", why);
  }
  const change = { key, name, case_insensitive: caseInsensitive };
  await context.tx.workspaces.updateProject(row.id, change);
  return { body: await projectView(context, { ...row, ...change }) };
};

async function workspaceOf(context: Context): Promise<WorkspaceRow> {
  const row = await context.tx.workspaces.byId(context.workspaceId);
  if (!row) throw new Error("The caller's workspace is not there.");
  return row;
}

function workspaceView(row: WorkspaceRow, context: Context) {
  return { ...context.settings, ...row.settings, id: row.id, name: row.name, created_at: iso(row.created_at) };
}

export const get_workspace: Handler<Input<"get_workspace">> = async (context) => ({
  body: workspaceView(await workspaceOf(context), context),
});

export const update_workspace: Handler<Input<"update_workspace">> = async (context, input) => {
  const row = await workspaceOf(context);
  const { name, ...changes } = input;
  const next = settingsSchema.parse({ ...context.settings, ...row.settings, ...dropUndefined(changes) });
  if (next.lease_seconds_min > next.lease_seconds_max) {
    throw invalidInput("lease_seconds_min", `must not be above lease_seconds_max (${next.lease_seconds_max})`);
  }
  if (next.lease_seconds_default < next.lease_seconds_min || next.lease_seconds_default > next.lease_seconds_max) {
    const range = `${next.lease_seconds_min}..${next.lease_seconds_max}`;
    throw invalidInput(
      "lease_seconds_default",
      `must lie within the range ${range}, not be ${next.lease_seconds_default}`,
    );
  }
  await mayHaveKinds(context, row.settings.kinds ?? {}, next.kinds);
  if (name !== undefined && name !== row.name && (await context.tx.workspaces.byName(name))) {
    throw new DibsError("already_exists", `There is a workspace ${name} already.`, {});
  }
  await context.tx.workspaces.update(row.id, { settings: next, ...(name === undefined ? {} : { name }) });
  return { body: workspaceView({ ...row, settings: next, name: name ?? row.name }, context) };
};

function dropUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null));
}
