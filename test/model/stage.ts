import { type OpenStore, open, operations } from "dibs";
import type { Caller, Role } from "dibs/contract";
import { type AnyStore, freshStore } from "../support/any-store.js";
import { FakeTime } from "../support/fake-time.js";
import { byKey } from "../support/fresh-store.js";
import type { CallStep } from "./calls.js";
import { Play } from "./play.js";
import type { Tally } from "./scopes.js";
import { OPENINGS, type Step } from "./steps.js";

const ROLES: readonly (readonly [name: string, role: Role])[] = [
  ["ann", "worker"],
  ["ben", "worker"],
  ["cleo", "coordinator"],
  ["root", "admin"],
];

/** Who plays. */
export interface Cast {
  readonly agents: readonly { id: string; name: string; role: Role; caller: Caller }[];
  readonly projects: Readonly<Record<string, string>>;
}

/** What earlier plays have left, as a person would remove it: agents, projects and settings stay. */
const SWEPT = [
  "yields",
  "wait_scopes",
  "waits",
  "scope_capacities",
  "task_scopes",
  "scope_claims",
  "handoffs",
  "holds",
  "dependencies",
  "comments",
  "links",
  "task_labels",
  "task_texts",
  "tasks",
  "sessions",
  "notices",
  "events",
  "remembered",
];

/** One store and its clock, swept before every play: to open one anew takes longer than a play. */
export class Stage {
  readonly time = new FakeTime();
  /** The causes of `internal` answers. */
  readonly faults: string[] = [];
  cast!: Cast;
  /** What the plays came to. */
  readonly tally: Tally = new Map();
  /** Two processes, so to say, on the one store. */
  desks: OpenStore[] = [];
  #others!: Caller;
  #plays = 0;

  private constructor(
    readonly kept: AnyStore,
    readonly backlog: number,
    /** What every play begins with. */
    readonly openings: readonly (readonly CallStep[])[],
  ) {}

  /** `backlog`: so many leases of others lapse a second after each start, so that much is due at once. */
  static async set(backlog = 0, openings = OPENINGS): Promise<Stage> {
    const stage = new Stage(await freshStore(), backlog, openings);
    await stage.open();
    const store = stage.desks[0] as OpenStore;
    const admin = byKey((await store.ensureAdmin()).key ?? "");
    const agents = [];
    for (const [name, role] of ROLES) {
      const { id, key } = (await store.call(operations.create_agent, { name, role }, admin)).body;
      agents.push({ id, name, role, caller: byKey(key) });
    }
    await store.call(operations.create_project, { key: "other" }, admin);
    const projects = (await store.call(operations.list_projects, {}, admin)).body;
    stage.cast = { agents, projects: Object.fromEntries(projects.map(({ key, id }) => [key, id])) };
    stage.#others = byKey((await store.createWorkspace("others")).key);
    await store.call(operations.update_workspace, { lease_seconds_min: 1 }, stage.#others);
    return stage;
  }

  async open(): Promise<void> {
    const onFault = (_operation: string, cause: string) => this.faults.push(cause);
    const desk = () => open({ store: this.kept.url, time: this.time, onFault });
    this.desks = [await desk(), await desk()];
  }

  async close(): Promise<void> {
    for (const desk of this.desks) await desk.close();
  }

  async play(steps: readonly Step[]): Promise<void> {
    this.#plays += 1;
    await this.kept.exec(SWEPT.map((table) => `DELETE FROM ${table}`).join("; "));
    await this.#addBacklog();
    const play = await Play.start(this);
    for (const each of steps) await play.step(each);
    await play.lookBack(steps.length % 10 === 0);
  }

  async #addBacklog(): Promise<void> {
    if (this.backlog === 0) return;
    const tasks = Array.from({ length: this.backlog }, (_, at) => ({ content: `other ${at}` }));
    const store = this.desks[0] as OpenStore;
    await store.call(operations.create_tasks, { tasks }, this.#others);
    for (let at = 0; at < this.backlog; at += 100) {
      await store.call(operations.claim_next_task, { count: 100, lease_seconds: 1 }, this.#others);
    }
  }

  get plays(): number {
    return this.#plays;
  }

  async strike(): Promise<void> {
    await this.close();
    await this.kept.remove();
  }
}
