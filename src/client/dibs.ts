import type { z } from "zod";
import type { Answer, Call, Caller } from "../contract/operation.js";
import { type OperationName, type Operations, operations } from "../contract/operations.js";
import { type HttpCallOptions, httpCall } from "./http-call.js";
import { type WorkOptions, work } from "./work.js";
import type { WorkItem } from "./work-item.js";

export type Input<N extends OperationName> = z.input<Operations[N]["input"]>;
export type Output<N extends OperationName> = z.output<Operations[N]["output"]>;

/** What may stand beside an operation's input. */
export interface CallOptions {
  /** Over HTTP every write has one anyway; give your own to repeat a call across processes. */
  readonly idempotencyKey?: string;
  /** Refuse the write unless the record still has this version. */
  readonly ifVersion?: number;
  readonly signal?: AbortSignal;
}

type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : S;
type Arguments<N extends OperationName> =
  Record<never, never> extends Input<N>
    ? [input?: Input<N>, options?: CallOptions]
    : [input: Input<N>, options?: CallOptions];
/** One method per operation of the contract: `claim_next_task` is `claimNextTask`. Each gives the answer's body. */
type Methods = { [N in OperationName as CamelCase<N>]: (...args: Arguments<N>) => Promise<Output<N>> };

class Client {
  /** The session this client acts in, if it is bound to one. */
  readonly sessionId: string | undefined;
  readonly #call: Call;
  readonly #identity: Caller["identity"];

  constructor(call: Call, identity: Caller["identity"], sessionId?: string) {
    this.#call = call;
    this.#identity = identity;
    this.sessionId = sessionId;
  }

  /** Any operation by its name, with the whole answer: body, status, next cursor, notices. Throws `DibsError`. */
  async call<N extends OperationName>(name: N, input: Input<N>, options: CallOptions = {}): Promise<Answer<Output<N>>> {
    const wait = whileWaiting(options.signal);
    const caller: Caller = { identity: this.#identity, sessionId: this.sessionId, ...options, signal: wait.signal };
    try {
      return (await this.#call(operations[name] as Operations[N], input as never, caller)) as Answer<Output<N>>;
    } finally {
      wait.end();
    }
  }

  /** Every row of a paged list, page after page. */
  async *each<N extends PagedName>(name: N, input: Input<N>, options: CallOptions = {}): AsyncGenerator<Row<N>> {
    let cursor: string | undefined;
    do {
      const page = await this.call(name, cursor === undefined ? input : { ...input, cursor }, options);
      yield* page.body as Row<N>[];
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /**
   * Opens a session, or resumes the one that the `resume_token` or the `harness_id` means, and gives a client bound to it.
   * What it claims is held until `end()`, or until it falls silent.
   */
  async session(input: Input<"open_session"> = {}, options: CallOptions = {}): Promise<DibsSession> {
    const { body } = await this.call("open_session", input, options);
    return new SessionClient(this.#call, this.#identity, body) as DibsSession;
  }

  /** The same client in a session that is open already. */
  inSession(sessionId: string): Dibs {
    return new Client(this.#call, this.#identity, sessionId) as Dibs;
  }

  /** Claims task after task in a session of its own; see `WorkOptions` and `WorkItem`. */
  work(options: WorkOptions = {}): AsyncGenerator<WorkItem, void, undefined> {
    return work(this as unknown as Dibs, options);
  }
}

/** A call's signal says that nobody waits for its answer; once that is there, an abort means other things. */
function whileWaiting(signal: AbortSignal | undefined): { signal: AbortSignal | undefined; end: () => void } {
  if (signal === undefined) return { signal, end: () => undefined };
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return { signal: controller.signal, end: () => signal.removeEventListener("abort", stop) };
}

class SessionClient extends Client {
  /** The session as it was opened, with what resumes it. */
  readonly record: Output<"open_session">;

  constructor(call: Call, identity: Caller["identity"], record: Output<"open_session">) {
    super(call, identity, record.id);
    this.record = record;
  }

  /** Opens a session that works for this one, and ends with it. */
  child(input: Input<"open_session"> = {}, options: CallOptions = {}): Promise<DibsSession> {
    return this.session({ ...input, parent_session_id: this.record.id }, options);
  }

  /** Ends the session with its children and frees all they hold; `findings` is kept for those who come after. */
  async end(options: CallOptions & { readonly findings?: string } = {}): Promise<Output<"end_session">> {
    const { findings, ...rest } = options;
    const said = findings === undefined ? {} : { findings };
    return (await this.call("end_session", { session_id: this.record.id, ...said }, rest)).body;
  }
}

type PagedName = { [N in OperationName]: "cursor" extends keyof Input<N> ? N : never }[OperationName];
type Row<N extends OperationName> = Output<N> extends readonly (infer R)[] ? R : never;

for (const name of Object.keys(operations) as OperationName[]) {
  const method = name.replace(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());
  Object.defineProperty(Client.prototype, method, {
    configurable: true,
    writable: true,
    async value(this: Client, input: never, options?: CallOptions) {
      return (await this.call(name, input ?? ({} as never), options)).body;
    },
  });
}

export type Dibs = Client & Methods;
export type DibsSession = SessionClient & Methods;

interface DibsConstructor {
  /** A client of the server at `url`. Without `key` it sends none: in a browser its cookie goes along. */
  new (options: HttpCallOptions): Dibs;
  /** The same client over any `Call`, as the embedded engine's. */
  over(call: Call, identity: Caller["identity"], sessionId?: string): Dibs;
}

/** The client of Dibs: one method per operation, sessions, and the work loop. */
export const Dibs: DibsConstructor = class extends Client {
  constructor(options: HttpCallOptions) {
    const identity = options.key === undefined ? cookie : ({ kind: "key", key: options.key } as const);
    super(httpCall(options), identity, options.session);
  }

  static over(call: Call, identity: Caller["identity"], sessionId?: string): Dibs {
    return new Client(call, identity, sessionId) as Dibs;
  }
} as unknown as DibsConstructor;

/** A browser's cookie is sent by the browser; the client never sees it. */
const cookie = { kind: "cookie", token: "" } as const;
