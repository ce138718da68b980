import type { DibsError, ErrorCode } from "dibs/client";
import type { OperationName, Task } from "dibs/contract";
import type { Asking, Fields, Heard } from "./surface.js";
import type { Name, People, Person, World } from "./world.js";

/** What a row's call is made of, once what it needs stands in the world. */
export interface Call {
  readonly input: Fields;
  /** Another session than the asker's own. */
  readonly session?: string;
  readonly ifVersion?: number;
  readonly idempotencyKey?: string;
}

/** One row of the table: a call, and what every surface has to say to it. */
export interface Row {
  readonly does: string;
  readonly operation: OperationName;
  /** Ann, a worker, where nothing else is said. */
  readonly as?: Name | "somebody with a wrong key";
  /** Makes what must stand before the call. */
  readonly given: (at: Stage) => Promise<Call> | Call;
  /** Fields of the answer, in the words of `normal`. */
  readonly answers?: unknown;
  readonly refused?: { readonly code: ErrorCode } & Fields;
  /** Status of a success, where it isn't the operation's own. */
  readonly status?: number;
  /** More rows follow, and the answer says where. */
  readonly goesOn?: true;
  /** The tools of MCP leave it to people. */
  readonly tools?: false;
  /** It is about roles or keys, which the bare file doesn't have. */
  readonly about?: "roles" | "keys";
  /** What stands in the world afterwards. */
  readonly leaves?: (at: Stage, heard: Heard) => Promise<void>;
}

/** A place in the world for one row: a project and sessions of its own, and words for the ids in it. */
export class Stage {
  readonly names = new Map<string, string>();
  readonly ann: Person;
  readonly bob: Person;
  readonly lead: Person;
  readonly boss: Person;
  readonly project: string;

  private constructor(
    readonly world: World,
    people: People,
    project: { readonly id: string; readonly key: string },
  ) {
    ({ ann: this.ann, bob: this.bob, lead: this.lead, boss: this.boss } = people);
    this.project = project.id;
    this.names.set(project.id, "the project").set(project.key, "the project's key");
    for (const [name, person] of Object.entries(people)) this.call(person, name);
  }

  static async in(world: World): Promise<Stage> {
    const ann = await world.afresh("ann");
    const bob = await world.afresh("bob");
    return new Stage(world, { ...world.people, ann, bob }, await world.newProject());
  }

  /** Gives a person's ids and name words that are the same in every world. */
  call(person: Person, name: string): void {
    this.names.set(person.agentId, name).set(person.sessionId, `${name}'s session`);
    if (person.name !== name) this.names.set(person.name, name);
  }

  async newPerson(name: string): Promise<Person> {
    const person = await this.world.newPerson();
    this.call(person, name);
    return person;
  }

  /** A new task of this row's project, made by the coordinator unless somebody else is named. */
  async task(fields: Fields = {}, by: Person = this.lead): Promise<Task> {
    const task = await by.dibs.createTask({ content: "a task", project_id: this.project, ...fields });
    this.names.set(task.id, `task ${[...this.names.values()].filter((name) => name.startsWith("task ")).length + 1}`);
    return task;
  }

  /** A new task that the person holds: what a holder's write carries. */
  async held(by: Person, fields: Fields = {}, leaseSeconds?: number, made: Person = this.lead) {
    const { id } = await this.task(fields, made);
    return this.claim(by, id, leaseSeconds);
  }

  async claim(by: Person, id: string, leaseSeconds?: number) {
    const { task } = await by.dibs.claimTask({ task_id: id, lease_seconds: leaseSeconds });
    return { task_id: task.id, lease_id: task.lease_id as string, fence: task.fence };
  }

  /** A task that bob has completed, as made by ann. */
  async completed(fields: Fields = {}): Promise<string> {
    const lease = await this.held(this.bob, fields, undefined, this.ann);
    await this.bob.dibs.completeTask(lease);
    return lease.task_id;
  }

  /** What ann held for 30 seconds and let lapse. */
  async lapsed(by: Person = this.ann, fields: Fields = {}) {
    const lease = await this.held(by, fields, 30);
    await this.world.passTime(30);
    return lease;
  }

  asking(row: Row, call: Call): Asking {
    const wrong = { name: "nobody", key: "dibs_this_key_was_never_made" };
    const as = row.as === "somebody with a wrong key" ? wrong : this[row.as ?? "ann"];
    const session = "sessionId" in as ? as.sessionId : undefined;
    return { operation: row.operation, as, session, ...call };
  }
}

/** The refusal of a set-up call that is meant to be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<DibsError> {
  return call.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error: DibsError) => error,
  );
}
