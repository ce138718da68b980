import type { RawAnswer, RawHttp } from "../raw-http.js";
import type { ServerProcess } from "../server-process.js";
import type { Operation } from "./history.js";
import type { TaskAction } from "./task-model.js";

export interface Load {
  readonly clients: number;
  readonly operations: number;
  readonly tasks: number;
  /** Of every lease. */
  readonly ttlMs: number;
}

/** What was seen of each task, by its id. */
export type Histories = Map<string, Operation<TaskAction>[]>;

/**
 * Lets clients fight over a few tasks of a real store, each through one of its servers, and writes down what each of
 * them saw. Some of them fall silent for longer than a lease and then go on as if they still held it.
 */
export async function recordTasks(servers: readonly ServerProcess[], load: Load): Promise<Histories> {
  const serverOf = (client: number) => servers[client % servers.length] as ServerProcess;
  const http = serverOf(0).client();
  const tasks = Array.from({ length: load.tasks }, (_, at) => ({ content: `task ${at}`, max_attempts: 100 }));
  const made = (await http.post("/v1/tasks/batch", { tasks })).body as { id: string }[];
  http.close();
  const histories: Histories = new Map(made.map(({ id }) => [id, []]));
  const clients = Array.from({ length: load.clients }, (_, at) => new LoadClient(at, serverOf(at), load, histories));
  await Promise.all(clients.map((client) => client.run()));
  return histories;
}

interface Held {
  readonly id: string;
  readonly lease: string;
  readonly fence: number;
}

class LoadClient {
  readonly #http: RawHttp;
  readonly #ids: string[];
  /** What it holds, or thinks it does. */
  readonly #held: Held[] = [];
  /** What it let go of: it may try to use that too. */
  readonly #gone: Held[] = [];
  #session = "";

  constructor(
    readonly client: number,
    server: ServerProcess,
    readonly load: Load,
    readonly histories: Histories,
  ) {
    this.#http = server.client();
    this.#ids = [...histories.keys()];
  }

  async run(): Promise<void> {
    this.#session = (await this.#http.post("/v1/sessions", { client: `client ${this.client}` })).body.id;
    for (let done = 0; done < this.load.operations; done++) await this.#one();
    this.#http.close();
  }

  async #one(): Promise<void> {
    const held = anyOf(this.#held);
    const gone = anyOf(this.#gone);
    const id = anyOf(this.#ids) as string;
    const dice = Math.random();
    if (dice < 0.002) return new Promise((resolve) => setTimeout(resolve, this.load.ttlMs * (0.5 + Math.random())));
    if (dice < 0.25) return this.#claimNext();
    if (dice < 0.4) return this.#claim(id);
    if (dice < 0.55 && held) return this.#write("heartbeat", held);
    if (dice < 0.68 && held) return this.#write("complete", held);
    if (dice < 0.78 && held) return this.#write("release", held);
    if (dice < 0.85 && gone) return this.#write("heartbeat", gone);
    if (dice < 0.92) return this.#reopen(id);
    return this.#read(id);
  }

  async #claimNext(): Promise<void> {
    const { answer, times } = await this.#timed("POST", "/v1/tasks/claim", this.#lease());
    const { task } = answer.body;
    if (task !== null) return this.#granted(task, times);
    for (const id of this.#ids) this.#note(id, times, { kind: "nothing" });
  }

  async #claim(id: string): Promise<void> {
    const { answer, times } = await this.#timed("POST", `/v1/tasks/${id}/claim`, this.#lease());
    const { task } = answer.body;
    if (answer.status !== 200) return this.#refused(id, times, answer);
    // It may hold an older, lapsed lease on the same task as well: only the very lease tells a renewal from a grant.
    const known = [...this.#held, ...this.#gone].some(({ lease }) => lease === task.lease_id);
    if (!known) return this.#granted(task, times);
    this.#note(id, times, { kind: "renewed", lease: task.lease_id, ttlMs: this.load.ttlMs });
  }

  async #write(what: "heartbeat" | "complete" | "release", held: Held): Promise<void> {
    const proof = { lease_id: held.lease, fence: held.fence };
    const { answer, times } = await this.#timed("POST", `/v1/tasks/${held.id}/${what}`, proof);
    const { status, body } = answer;
    const { lease } = held;
    if (status === 200) this.#note(held.id, times, { kind: "accepted", what, lease, ttlMs: this.load.ttlMs });
    else {
      if (body.code !== "lease_lost") throw new Error(`${what} answered ${JSON.stringify(body)}`);
      const holder = body.holder ? { lease: body.holder.lease_id, fence: body.holder.fence } : null;
      this.#note(held.id, times, { kind: "lost", lease, holder });
    }
    if (status !== 200 || what !== "heartbeat") this.#drop(held);
  }

  async #reopen(id: string): Promise<void> {
    const { answer, times } = await this.#timed("POST", `/v1/tasks/${id}/reopen`, {});
    if (answer.status === 200) this.#note(id, times, { kind: "reopened" });
    else this.#refused(id, times, answer);
  }

  async #read(id: string): Promise<void> {
    const { answer, times } = await this.#timed("GET", `/v1/tasks/${id}`);
    const { status, lease_id, fence } = answer.body;
    this.#note(id, times, { kind: "read", status, lease: status === "claimed" ? lease_id : null, fence });
  }

  #granted(task: { id: string; lease_id: string; fence: number }, times: Times): void {
    const { id, lease_id: lease, fence } = task;
    this.#note(id, times, { kind: "granted", by: this.#session, lease, fence, ttlMs: this.load.ttlMs });
    this.#held.push({ id, lease, fence });
  }

  #refused(id: string, times: Times, { body }: RawAnswer): void {
    if (body.code === "task_closed") {
      this.#note(id, times, { kind: "closed" });
      return;
    }
    if (body.code !== "task_claimed") throw new Error(`A claim was refused with ${JSON.stringify(body)}`);
    const { session_id: by, lease_id: lease, fence } = body.holder;
    this.#note(id, times, { kind: "held", by, lease, fence });
  }

  #drop(held: Held): void {
    const at = this.#held.indexOf(held);
    if (at < 0) return;
    this.#held.splice(at, 1);
    this.#gone.push(held);
    if (this.#gone.length > 5) this.#gone.shift();
  }

  #lease() {
    return { lease_seconds: this.load.ttlMs / 1000 };
  }

  async #timed(method: string, path: string, body?: object): Promise<{ answer: RawAnswer; times: Times }> {
    const calledMs = performance.now();
    const answer = await this.#http.send(method, path, body, { session: this.#session });
    return { answer, times: { calledMs, returnedMs: performance.now() } };
  }

  #note(id: string, times: Times, action: TaskAction): void {
    this.histories.get(id)?.push({ client: this.client, ...times, action });
  }
}

interface Times {
  readonly calledMs: number;
  readonly returnedMs: number;
}

function anyOf<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)];
}
