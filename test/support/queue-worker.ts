import type { Histories } from "./linearizability/record.js";
import type { TaskAction } from "./linearizability/task-model.js";
import type { RawHttp } from "./raw-http.js";

export interface QueuedTask {
  readonly id: string;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly assigned_to_agent_id?: string | null | undefined;
}

interface Queue {
  readonly tasks: readonly QueuedTask[];
  /** Those a worker asks for, one after another, and none at all. */
  readonly labels: readonly string[];
  readonly histories: Histories;
  /** When each task's completion was answered. */
  readonly completedMs: Map<string, number>;
  readonly ttlMs: number;
}

interface Times {
  readonly calledMs: number;
  readonly returnedMs: number;
}

/** A client that works until nothing is left for its agent, and writes down what it saw of each task. */
export class QueueWorker {
  readonly completed: string[] = [];
  /** Grants of what wasn't asked for, or is somebody else's. */
  readonly wronglyGiven: string[] = [];
  calls = 0;
  #session = "";

  constructor(
    readonly client: number,
    readonly http: RawHttp,
    readonly agentId: string,
    readonly queue: Queue,
  ) {}

  async run(): Promise<void> {
    this.#session = (await this.http.post("/v1/sessions", { client: `client ${this.client}` })).body.id;
    for (let nth = this.client; ; nth++) {
      const label = this.queue.labels[nth % (this.queue.labels.length + 1)];
      const found = await this.#claim(label === undefined ? [] : [label]);
      if (!found && label === undefined) break;
    }
    this.http.close();
  }

  /** Claims one and works on it; false when there was none. */
  async #claim(labels: readonly string[]): Promise<boolean> {
    const asked = { labels, lease_seconds: this.queue.ttlMs / 1_000 };
    const { body, times } = await this.#call("/v1/tasks/claim", asked);
    const { task } = body;
    if (task === null) {
      for (const each of this.queue.tasks) {
        // Of what was completed before it was asked, nothing can be learnt.
        const over = (this.queue.completedMs.get(each.id) ?? times.calledMs) < times.calledMs;
        if (!over && this.#mayHave(each, labels)) this.#note(each.id, times, { kind: "nothing" });
      }
      return false;
    }
    const { id, lease_id: lease, fence } = task;
    this.#note(id, times, { kind: "granted", by: this.#session, lease, fence, ttlMs: this.queue.ttlMs });
    if (!this.#mayHave(task, labels)) this.wronglyGiven.push(id);
    // Some are kept for a while, some given back at first.
    if (fence === 1 && this.calls % 11 === 0) await this.#write("release", id, lease, fence);
    else {
      if (this.calls % 5 === 0) await this.#write("heartbeat", id, lease, fence);
      await this.#write("complete", id, lease, fence);
      this.completed.push(id);
      this.queue.completedMs.set(id, performance.now());
    }
    return true;
  }

  async #write(what: "heartbeat" | "complete" | "release", id: string, lease: string, fence: number): Promise<void> {
    const { times } = await this.#call(`/v1/tasks/${id}/${what}`, { lease_id: lease, fence });
    this.#note(id, times, { kind: "accepted", what, lease, ttlMs: this.queue.ttlMs });
  }

  /** Nothing but 200 is right: nobody fails because of others. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind.
  async #call(path: string, input: object): Promise<{ body: any; times: Times }> {
    this.calls += 1;
    const calledMs = performance.now();
    const { status, body } = await this.http.post(path, input, { session: this.#session });
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    return { body, times: { calledMs, returnedMs: performance.now() } };
  }

  #mayHave(task: QueuedTask, labels: readonly string[]): boolean {
    const assignedTo = task.assigned_to_agent_id ?? this.agentId;
    return assignedTo === this.agentId && labels.every((label) => task.labels.includes(label));
  }

  #note(id: string, times: Times, action: TaskAction): void {
    this.queue.histories.get(id)?.push({ client: this.client, ...times, action });
  }
}
