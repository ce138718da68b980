import { z } from "zod";
import { cursor, limit, text, visibleText, whole } from "./fields.js";
import { defineOperation } from "./operation.js";

export const project = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  case_insensitive: z.boolean(),
  repositories: z
    .array(z.string())
    .describe(
      "What its git repositories are known by: remotes as `github.com/acme/shop`, first commits as `root:HASH`.",
    ),
  created_at: z.string(),
});

const seconds = whole(1, 86_400, "seconds");

const ownKinds = z
  .record(
    z.string(),
    z.strictObject({
      tree: z
        .boolean()
        .default(false)
        .describe("Names have segments, and cover what lies under them; else one segment."),
      shared: z.boolean().default(false).describe("All projects of the workspace have the same names."),
    }),
  )
  .describe('Kinds of scopes beside those of every workspace, by name: `{"ticket": {"tree": false}}`.');
export type OwnKinds = z.output<typeof ownKinds>;

/** What a workspace can set; the first values stand in `SETTINGS_DEFAULT`. */
export const settings = z.object({
  lease_seconds_default: seconds,
  lease_seconds_min: seconds,
  lease_seconds_max: seconds,
  max_attempts: whole(1, 100),
  claims_per_agent_max: whole(1, 1_000_000).describe("Live claims an agent may hold at once."),
  kinds: ownKinds,
  waits_per_agent_max: whole(1, 100_000).describe("Lines for scopes an agent may stand in at once."),
});
export type Settings = z.output<typeof settings>;
export const SETTINGS_DEFAULT: Settings = Object.freeze({
  lease_seconds_default: 300,
  lease_seconds_min: 30,
  lease_seconds_max: 3600,
  max_attempts: 5,
  claims_per_agent_max: 10_000,
  kinds: {},
  waits_per_agent_max: 100,
});

const workspace = settings.extend({ id: z.string(), name: z.string(), created_at: z.string() });
/** A project's name for people and files. */
export const projectKey = z
  .string()
  .regex(/^[A-Za-z0-9._/-]{1,100}$/, "must be 1..100 of letters, digits, dot, underscore, hyphen, slash");
const byProject = { project_id: z.string().min(1).max(100).describe("Id or key of the project.") } as const;

export const workspaceOperations = {
  create_project: defineOperation({
    name: "create_project",
    summary: "Add a project: a queue of its own, one per repository.",
    method: "POST",
    path: "/v1/projects",
    input: () =>
      z.strictObject({
        key: projectKey,
        name: visibleText(200).optional(),
        case_insensitive: z.boolean().optional().describe("Scope names differ in more than letter case."),
      }),
    output: () => project,
    errors: ["already_exists"],
    role: "coordinator",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_projects: defineOperation({
    name: "list_projects",
    summary: "List the workspace's projects.",
    method: "GET",
    path: "/v1/projects",
    input: () =>
      z.strictObject({
        repository: text(2000).optional().describe("Only that of this git repository: a remote, or `root:HASH`."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(project),
    errors: ["invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_project: defineOperation({
    name: "get_project",
    summary: "Read one project.",
    method: "GET",
    path: "/v1/projects/:project_id",
    input: () => z.strictObject(byProject),
    output: () => project,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  update_project: defineOperation({
    name: "update_project",
    summary: "Change a project's key, name or letter-case rule.",
    method: "PATCH",
    path: "/v1/projects/:project_id",
    input: () =>
      z.strictObject({
        ...byProject,
        key: projectKey.optional(),
        name: visibleText(200).optional(),
        case_insensitive: z.boolean().optional(),
      }),
    output: () => project,
    errors: ["not_found", "already_exists"],
    role: "coordinator",
    effect: "write",
    nulls: "clear",
  }),
  project_for_repository: defineOperation({
    name: "project_for_repository",
    summary:
      "Find or make the project of a git repository, the same for all its worktrees and clones. The first repository of a workspace gets `default`, each further one a project of its own.",
    method: "POST",
    path: "/v1/projects/for-repository",
    input: () =>
      z.strictObject({
        project: projectKey
          .optional()
          .describe("Key of the project, where the repository says one; made if it isn't there."),
        remote: text(2000)
          .optional()
          .describe("Address of the remote, in any of git's forms; who logs in by it is not kept."),
        root_commit: z
          .string()
          .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, "must be the whole hash of a commit")
          .optional()
          .describe("Hash of the first commit: what tells the repository while it has no remote."),
        name: visibleText(200).optional().describe("Name of the project, if it has to be made."),
      }),
    output: () => project,
    errors: [],
    role: "worker",
    effect: "write",
    status: 201,
    otherwise: { status: 200, when: "the project was there" },
    nulls: "absent",
  }),
  get_workspace: defineOperation({
    name: "get_workspace",
    summary: "Read the workspace and its settings.",
    method: "GET",
    path: "/v1/workspace",
    input: () => z.strictObject({}),
    output: () => workspace,
    errors: [],
    role: "worker",
    effect: "read",
  }),
  update_workspace: defineOperation({
    name: "update_workspace",
    summary: "Change the workspace's settings.",
    method: "PATCH",
    path: "/v1/workspace",
    input: () => z.strictObject({ name: visibleText(100).optional(), ...settings.partial().shape }),
    output: () => workspace,
    errors: ["already_exists"],
    role: "admin",
    effect: "write",
    nulls: "clear",
  }),
};
