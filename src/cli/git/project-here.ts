import { isDibsError } from "../../contract/errors.js";
import type { Call, Caller } from "../../contract/operation.js";
import { type OperationName, operations } from "../../contract/operations.js";
import { repositoryHere, toldOf } from "./repository-here.js";

type Fields = Readonly<Record<string, unknown>>;

const always = () => true;
const having = (field: string) => (input: Fields) => input[field] !== undefined;
const lacking = (field: string) => (input: Fields) => input[field] === undefined;

/** What makes something in a project or means names in it, and when: elsewhere a project only narrows what is listed. */
export const IN_PROJECT: Partial<Record<OperationName, (input: Fields) => boolean>> = {
  // Beside its parent, where it has one.
  create_task: lacking("parent_task_id"),
  create_tasks: always,
  create_plan: always,
  add_plan_steps: always,
  get_plan: always,
  get_plan_graph: always,
  claim_next_task: having("plan"),
  create_recurrence: always,
  report_head: always,
  // Resumed by its token it stays where it was.
  open_session: lacking("resume_token"),
  claim_scopes: always,
  check_scope: always,
  set_scope_capacity: always,
  list_scope_history: always,
  heartbeat_scopes: having("scopes"),
  release_scopes: having("scopes"),
  list_claims: having("scope"),
  list_waits: having("scope"),
  count_claims: having("scope"),
  place_hold: always,
  declare_unlanded: always,
  list_unlanded: having("scope"),
  prune_unlanded: always,
};

/** Where commands run: the project that all worktrees and clones of the repository around have in common (R64). */
export class ProjectHere {
  readonly #call: Call;
  readonly #identity: Caller["identity"];
  readonly #named: string | undefined;
  #id: Promise<string | undefined> | undefined;
  /** Sessions by whether they have a project of their own, which then is meant. */
  readonly #placed = new Map<string, boolean>();

  /** `named` is the project that the user names for all commands, by id or key. */
  constructor(call: Call, identity: Caller["identity"], named: string | undefined) {
    this.#call = call;
    this.#identity = identity;
    this.#named = named;
  }

  /** Its id, looked up once; undefined outside a repository, and in one without a remote or a commit. */
  id(): Promise<string | undefined> {
    this.#id ??= this.#find().catch((fault) => {
      this.#id = undefined;
      throw fault;
    });
    return this.#id;
  }

  /** The session has this project: its calls need not name it. */
  has(sessionId: string): void {
    this.#placed.set(sessionId, true);
  }

  /** The same calls, with this project where they mean one and neither they nor their session say which. */
  readonly call: Call = async (operation, input, caller) => {
    const full = await this.#completed(operation.name as OperationName, input, caller);
    const answer = await this.#call(operation, full as never, caller);
    if (operation.name === "open_session" && full.project_id !== undefined)
      this.has((answer.body as { id: string }).id);
    return answer;
  };

  async #completed(name: OperationName, input: Fields, { sessionId }: Caller): Promise<Fields> {
    if (!IN_PROJECT[name]?.(input) || typeof input.project_id === "string") return input;
    const speaks = sessionId !== undefined && name !== "open_session" && (await this.#hasProject(sessionId));
    const project = speaks ? undefined : await this.id();
    if (project === undefined) return input;
    if (name !== "create_tasks") return { ...input, project_id: project };
    // What is no list of tasks is refused by the call itself.
    return Array.isArray(input.tasks) ? { ...input, tasks: input.tasks.map((task) => placed(task, project)) } : input;
  }

  async #hasProject(sessionId: string): Promise<boolean> {
    let placed = this.#placed.get(sessionId);
    if (placed === undefined) {
      placed = await this.#ask("get_session", { session_id: sessionId }).then(
        (session) => session.project_id !== null,
        (fault) => {
          // What is wrong with the session the call itself says.
          if (isDibsError(fault)) return true;
          throw fault;
        },
      );
      this.#placed.set(sessionId, placed);
    }
    return placed;
  }

  async #find(): Promise<string | undefined> {
    if (this.#named !== undefined) return (await this.#ask("get_project", { project_id: this.#named })).id;
    const here = repositoryHere(process.cwd());
    if (!here) return undefined;
    const { key, repository } = here;
    const remote = repository?.remote;
    const root = remote === undefined ? repository?.rootCommit() : undefined;
    const known = remote ?? (root && `root:${root}`);
    // Nearly always it is known, and asking writes nothing.
    const [found] = known === undefined ? [] : await this.#ask("list_projects", { repository: known, limit: 1 });
    if (found && (key === undefined || found.key === key)) return found.id;
    if (known === undefined && key === undefined) return undefined;
    return (await this.#ask("project_for_repository", toldOf(here))).id;
  }

  async #ask<N extends OperationName>(name: N, input: object) {
    const operation = operations[name] as (typeof operations)[N];
    return (await this.#call(operation, input as never, { identity: this.#identity })).body;
  }
}

/** Beside its parent, where it has one; where it says, if it does. */
function placed(task: unknown, project: string): unknown {
  if (typeof task !== "object" || task === null) return task;
  return { project_id: project, ...("parent_task_id" in task ? { project_id: undefined } : {}), ...task };
}
