import { type OpenStore, open, operations } from "dibs";
import type { Answer, Caller, OperationName, Operations, Role } from "dibs/contract";
import { onTestFinished } from "vitest";
import type { z } from "zod";
import { type AnyStore, freshStore } from "./any-store.js";
import { FakeTime } from "./fake-time.js";

export type Input<N extends OperationName> = z.input<Operations[N]["input"]>;
export type Body<N extends OperationName> = z.output<Operations[N]["output"]>;

/** Somebody who calls: an agent with its key, in a session or in none. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly caller: Caller;
  readonly sessionId: string;
}

/** A store of the test's own, with a clock that the test moves; gone when the test is over. */
export class FreshStore {
  /** Faults behind `internal` answers; a test that ends with any has failed. */
  readonly faults: string[] = [];
  readonly jumps: number[] = [];
  #store!: OpenStore;
  #realTime = false;
  root!: Actor;

  private constructor(
    readonly kept: AnyStore,
    readonly time: FakeTime,
  ) {}

  /** `realTime` for what waits; else the clock stands still until the test moves it. */
  static async open(options: { realTime?: true; in?: string } = {}): Promise<FreshStore> {
    const fresh = new FreshStore(await freshStore(options.in), new FakeTime());
    fresh.#realTime = options.realTime ?? false;
    fresh.#store = await fresh.another();
    const { agentId, key } = await fresh.#store.ensureAdmin();
    fresh.root = { id: agentId, name: "admin", caller: byKey(key ?? ""), sessionId: "" };
    onTestFinished(async () => {
      await fresh.#store.close();
      await fresh.kept.remove();
      if (fresh.faults.length > 0) throw new Error(`Faults of Dibs itself: ${fresh.faults.join("\n")}`);
    });
    return fresh;
  }

  get store(): OpenStore {
    return this.#store;
  }

  /** The same store opened once more, as another process would; the test closes it. */
  async another(time = this.time): Promise<OpenStore> {
    return open({
      store: this.kept.url,
      ...(this.#realTime ? {} : { time }),
      onFault: (operation, cause) => this.faults.push(`${operation}: ${cause}`),
      onForwardJump: (jumpMs) => this.jumps.push(jumpMs),
    });
  }

  /** Ends the process, so to say, and starts it anew on the same store. */
  async restart(): Promise<void> {
    await this.#store.close();
    this.#store = await this.another();
  }

  answer<N extends OperationName>(name: N, input: Input<N>, as: Actor | Caller, on = this.#store) {
    const caller = "caller" in as ? as.caller : as;
    return on.call(operations[name], input as never, caller) as unknown as Promise<Answer<Body<N>>>;
  }

  async ask<N extends OperationName>(name: N, input: Input<N>, as: Actor | Caller, on = this.#store): Promise<Body<N>> {
    return (await this.answer(name, input, as, on)).body;
  }

  /** The refusal, as a surface would show it; fails where there is none. */
  async refusal<N extends OperationName>(name: N, input: Input<N>, as: Actor | Caller, on = this.#store) {
    let body: unknown;
    try {
      body = await this.ask(name, input, as, on);
    } catch (thrown) {
      const refused = thrown as {
        code: string;
        message: string;
        details: Record<string, unknown>;
        toProblem(): object;
      };
      if (typeof refused.code !== "string" || typeof refused.toProblem !== "function") throw thrown;
      return {
        code: refused.code,
        message: refused.message,
        ...refused.details,
        problem: refused.toProblem(),
      } as Refused;
    }
    throw new Error(`${name} was to be refused but answered ${JSON.stringify(body)}`);
  }

  async agent(name: string, role: Role = "worker", as: Actor = this.root): Promise<Actor> {
    const { id, key } = await this.ask("create_agent", { name, role }, as);
    return { id, name, caller: byKey(key), sessionId: "" };
  }

  async session(of: Actor, input: Input<"open_session"> = {}): Promise<Actor> {
    const { id } = await this.ask("open_session", input, { identity: of.caller.identity });
    return { ...of, caller: { identity: of.caller.identity, sessionId: id }, sessionId: id };
  }

  /** An agent in a session of its own. */
  async worker(name: string, role: Role = "worker"): Promise<Actor> {
    return this.session(await this.agent(name, role));
  }

  task(input: Partial<Input<"create_task">> = {}, as: Actor = this.root): Promise<Body<"create_task">> {
    return this.ask("create_task", { content: "a task", ...input }, as);
  }

  read(id: string, as: Actor = this.root): Promise<Body<"get_task">> {
    return this.ask("get_task", { task_id: id }, as);
  }

  async history(id: string, as: Actor = this.root): Promise<string[]> {
    return (await this.ask("get_task_history", { task_id: id }, as)).map((event) => event.type);
  }

  /** Claims the named task; the grant. */
  async claim(id: string, as: Actor, input: Partial<Input<"claim_task">> = {}): Promise<Body<"claim_task">["task"]> {
    return (await this.ask("claim_task", { task_id: id, ...input }, as)).task;
  }

  /** Claims the next task; null when there is none. */
  async next(as: Actor, input: Input<"claim_next_task"> = {}, on = this.#store) {
    return (await this.ask("claim_next_task", input, as, on)).task ?? null;
  }

  /** A write by somebody else that touches nothing here, so that the engine notices what the clock did. */
  async sweep(): Promise<void> {
    await this.ask("open_session", {}, this.root);
  }
}

export interface Refused {
  readonly code: string;
  readonly message: string;
  readonly problem: object;
  readonly reason?: string;
  readonly next?: string[];
  readonly holder?: Body<"list_claims">[number];
  readonly fields?: { field: string; message: string }[];
  readonly [detail: string]: unknown;
}

export function byKey(key: string): Caller {
  return { identity: { kind: "key", key } };
}
