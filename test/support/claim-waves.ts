import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { GatedProcess, startTogether, type Waiting } from "./barrier.js";
import { DIBS, ownEnvironment, type ServerProcess } from "./server-process.js";

const CLAIMER = fileURLToPath(new URL("./children/http-claimer.mjs", import.meta.url));

/** What one process got from one claim. */
export interface Claimed {
  readonly surface: "http" | "cli";
  readonly taskId: string | null;
  readonly leaseId: string | null;
  /** What went wrong; a grant and "nothing there" are both right. */
  readonly fault: string | null;
  readonly tookMs: number;
}

/** A process that claims once at a common instant, and can do so again in the next wave. */
interface Claimer {
  /** Ready for the next instant. */
  next(): Promise<Waiting>;
  result(): Promise<Claimed>;
  end(): void;
}

/** Over HTTP: one process for all waves, with its own connection. */
class HttpClaimer implements Claimer {
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;
  #answer: Promise<unknown[]> | undefined;

  constructor(server: ServerProcess) {
    this.#child = fork(CLAIMER, [server.url, server.key], { env: ownEnvironment({}) });
    this.#ready = once(this.#child, "message");
  }

  async next(): Promise<Waiting> {
    await this.#ready;
    const go = (atMs: number) => {
      this.#answer = once(this.#child, "message");
      this.#child.send({ atMs });
    };
    return { ready: Promise.resolve(), go };
  }

  async result(): Promise<Claimed> {
    const [said] = (await this.#answer) as [{ status: number; task: Task; error?: string; tookMs: number }];
    const fault = said.status === 200 ? null : `${said.status} ${said.error}`;
    return { surface: "http", ...grantOf(said.task), fault, tookMs: said.tookMs };
  }

  end(): void {
    this.#child.disconnect();
  }
}

/** On the bare file: one process a claim, as a person or a script would. */
class CliClaimer implements Claimer {
  #process: GatedProcess | undefined;

  constructor(
    readonly store: string,
    readonly agent: string,
  ) {}

  async next(): Promise<Waiting> {
    const env = ownEnvironment({ DIBS_STORE: this.store, DIBS_AGENT: this.agent });
    this.#process = new GatedProcess([DIBS, "task", "claim", "--json"], env);
    return this.#process;
  }

  async result(): Promise<Claimed> {
    const { exit, stdout, stderr, tookMs } = await (this.#process as GatedProcess).finished;
    const fault = exit === 0 || exit === 3 ? null : `exit ${exit}: ${stdout} ${stderr}`;
    const task = fault === null ? (JSON.parse(stdout) as { task: Task }).task : null;
    return { surface: "cli", ...grantOf(task), fault, tookMs };
  }

  end(): void {}
}

type Task = { id: string; lease_id: string } | null;

function grantOf(task: Task | undefined) {
  return { taskId: task?.id ?? null, leaseId: task?.lease_id ?? null };
}

/** How many processes claim through each surface. */
export interface CrowdSize {
  readonly http: number;
  readonly cli: number;
}

/** A crowd of processes that claim at one instant, wave after wave. */
export class Crowd {
  readonly #claimers: readonly Claimer[];

  constructor(size: CrowdSize, server: ServerProcess) {
    this.#claimers = [
      ...Array.from({ length: size.http }, () => new HttpClaimer(server)),
      // Half of them act as one agent in one session, half as agents of their own.
      ...Array.from(
        { length: size.cli },
        (_, at) => new CliClaimer(server.settings.store, at % 2 === 0 ? "shared" : `agent-${at}`),
      ),
    ];
  }

  /** Lets everybody claim once, at one instant. */
  async wave(): Promise<Claimed[]> {
    await startTogether(await Promise.all(this.#claimers.map((claimer) => claimer.next())));
    return Promise.all(this.#claimers.map((claimer) => claimer.result()));
  }

  end(): void {
    for (const claimer of this.#claimers) claimer.end();
  }
}
