import { onTestFinished } from "vitest";
import { granted } from "../../src/core/leases/leases.js";
import type { NewTaskRow, TaskRow } from "../../src/core/port/rows.js";
import type { Store, Tx } from "../../src/core/port/store.js";
import { queuePlace } from "../../src/core/tasks/task-state.js";

/** What a store must offer to be put through the suite. */
export interface StoreUnderTest {
  /** One more connection to the same data, as another process would have. */
  open(): Store | Promise<Store>;
  /** Whether several connections of one thread may have transactions at once. */
  readonly atOnce?: boolean;
  /** Time passes for all of them, by the clock that decides. */
  pass(ms: number): void;
  remove(): void | Promise<void>;
}

/** A store with a workspace, a project, two agents and a session each: what every record refers to. */
export class StoreScene {
  readonly store: Store;
  /** The session in which each agent holds. */
  readonly sessions: Record<string, string> = { ann: "ann-s", ben: "ben-s" };
  #tasks = 0;

  private constructor(
    readonly under: StoreUnderTest,
    store: Store,
  ) {
    this.store = store;
  }

  static async set(under: StoreUnderTest): Promise<StoreScene> {
    const scene = new StoreScene(under, await under.open());
    onTestFinished(async () => {
      await scene.store.close();
      await under.remove();
    });
    await scene.write(async (tx) => {
      for (const workspace of ["w1", "w2"]) {
        await tx.workspaces.insert({ id: workspace, name: workspace, settings: {} as never, created_at: tx.nowMs });
        const project = { id: `${workspace}-p`, key: "default", name: "default", case_insensitive: 0 };
        await tx.workspaces.insertProject({ ...project, workspace_id: workspace, created_at: tx.nowMs });
      }
      const other = { id: "w1-other", key: "other", name: "other", case_insensitive: 0, workspace_id: "w1" };
      await tx.workspaces.insertProject({ ...other, created_at: tx.nowMs });
      for (const name of ["ann", "ben"]) await tx.agents.insert(agentRow(name, tx.nowMs));
      for (const name of ["ann", "ben"]) await tx.sessions.insert(sessionRow(name, `${name}-s`, tx.nowMs));
    });
    return scene;
  }

  write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.store.transaction("write", body);
  }

  read<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.store.transaction("read", body);
  }

  /** A task in the queue; its row as the store reads it. */
  async task(tx: Tx, made: Partial<NewTaskRow> & { labels?: string } = {}): Promise<TaskRow> {
    this.#tasks += 1;
    const row = taskRow(`t${this.#tasks}`, tx.nowMs, made);
    const seq = await tx.tasks.insert(row, JSON.parse(row.labels));
    const stored = await tx.tasks.bySeq(seq);
    if (!stored) throw new Error("A task that was just made is not there.");
    return stored;
  }

  async grant(tx: Tx, row: TaskRow, seconds = 300, who = "ann"): Promise<TaskRow> {
    const holder = { agentId: who, sessionId: this.sessions[who] ?? "" };
    const taken = await tx.leases.grant(row, granted(row, holder, seconds, tx.nowMs));
    const stored = await tx.tasks.bySeq(row.seq);
    if (!taken || !stored) throw new Error("A task that was open could not be granted.");
    return stored;
  }
}

export function agentRow(name: string, nowMs: number, workspace_id = "w1", id = name) {
  const row = { id, workspace_id, name, role: "worker" as const, display_name: null, description: null };
  return { ...row, created_at: nowMs, deleted_at: null };
}

export function sessionRow(agent_id: string, id: string, nowMs: number, ttl_seconds: number | null = 900) {
  const nothing = { client: null, harness_id: null, host: null, cwd: null, branch: null, worktree: null };
  const alone = { parent_session_id: null, share_with_children: 0, resume_hash: null, findings: null };
  return {
    ...nothing,
    ...alone,
    id,
    workspace_id: "w1",
    agent_id,
    agent_name: agent_id,
    project_id: null,
    state: "open" as const,
    implicit: ttl_seconds === null ? 1 : 0,
    ttl_seconds,
    started_at: nowMs,
    seen_at: nowMs,
    expires_at: ttl_seconds === null ? null : nowMs + ttl_seconds * 1000,
    ended_at: null,
  };
}

function taskRow(id: string, nowMs: number, made: Partial<NewTaskRow>): NewTaskRow {
  return {
    id,
    workspace_id: "w1",
    project_id: "w1-p",
    priority: 2,
    ...queuePlace({ not_before: made.not_before ?? null, open_blockers: made.open_blockers ?? 0 }, nowMs),
    blockers: made.open_blockers ?? 0,
    open_blockers: 0,
    has_dependents: 0,
    plan: null,
    parent_id: null,
    accountable: null,
    scoped: 0,
    scopes: null,
    assigned_to: "",
    created_by: "ann",
    max_attempts: 5,
    created_at: nowMs,
    not_before: null,
    due_date: null,
    content: `task ${id}`,
    description: null,
    labels: "[]",
    context: null,
    ...made,
  };
}
