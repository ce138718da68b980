import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { Dibs } from "../client/dibs.js";
import { EXIT } from "../contract/errors.js";
import { packageFile } from "../package.js";
import type { Output } from "./output.js";
import { spawnWith } from "./running/spawn-with.js";

const LEASE_SECONDS = 3;
const TITLE = "Fix the flaky login test";

/** Two processes race for one task, one is refused by name, the winner is killed, the other takes over and finishes. */
export async function demo(output: Output): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "dibs-demo-"));
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  const play = new Play(`sqlite:${join(folder, "demo.db")}`, output, interrupt.signal);
  try {
    await play.run();
    return EXIT.ok;
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    play.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Racer {
  readonly name: string;
  readonly process: ChildProcess;
  readonly lines: Interface;
}

class Play {
  readonly #store: string;
  readonly #output: Output;
  readonly #signal: AbortSignal;
  readonly #processes = new Set<ChildProcess>();

  constructor(store: string, output: Output, signal: AbortSignal) {
    this.#store = store;
    this.#output = output;
    this.#signal = signal;
  }

  /** Kills whatever still runs. */
  end(): void {
    for (const child of this.#processes) child.kill("SIGKILL");
  }

  async run(): Promise<void> {
    this.#scene(
      `A temporary store with one task. A lease may be as short as ${LEASE_SECONDS} s here, so that you needn't wait.`,
    );
    const taskId = await this.#prepare();
    this.#say("you", `dibs task add "${TITLE}"  →  ${taskId}`);

    this.#scene("Two agents, two processes, one task: both claim it at the same instant.");
    const racers = [this.#racer("alice", taskId), this.#racer("bob", taskId)];
    await Promise.all(racers.map(({ lines }) => this.#next(lines, "line")));
    const [winner, loser] = await this.#race(racers);

    this.#scene(`${winner.name} works and keeps the lease. Then the process is killed (kill -9).`);
    for (let beats = 0; beats < 2; beats++) await this.#next(winner.lines, "line");
    winner.process.kill("SIGKILL");
    await this.#next(winner.process, "exit");
    this.#say(winner.name, this.#output.screen().paint.red("✗ killed"));

    this.#scene(`Nobody has to notice: the lease ends by the clock. ${loser} asks, and then waits.`);
    const taken = await this.#dibs(loser, ["task", "claim", taskId, "--lease-seconds", "60"]);
    // On a slow machine the lease may be over already.
    if (taken !== EXIT.ok) await this.#dibs(loser, ["task", "claim", "--wait-seconds", "20", "--lease-seconds", "60"]);

    this.#scene(`${loser} has the task, with a higher fence, and finishes it.`);
    await this.#dibs(loser, ["task", "complete", taskId, "--result", '"the clock was mocked in one test only"']);
    await this.#dibs(loser, ["task", "history", taskId]);
    this.#scene(
      "Done once, by one agent at a time, and a crash cost one lease. The store is gone again; try `dibs up`.",
    );
  }

  async #prepare(): Promise<string> {
    const { open } = await import("../index.js");
    const store = await open({ store: this.#store, thread: false });
    try {
      const dibs = Dibs.over(store.call, { kind: "file", agent: "you" });
      await dibs.updateWorkspace({ lease_seconds_min: 1, lease_seconds_default: LEASE_SECONDS });
      return (await dibs.createTask({ content: TITLE, labels: ["tests"], priority: 3 })).id;
    } finally {
      await store.close();
    }
  }

  #racer(name: string, taskId: string): Racer {
    const child = this.#start(name, ["demo-agent", taskId], ["pipe", "pipe", "inherit"]);
    if (!child.stdout) throw new Error("A child without stdout.");
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => this.#say(name, line));
    return { name, process: child, lines };
  }

  /** Lets both go; the one that is refused ends. */
  async #race(racers: readonly Racer[]): Promise<[winner: Racer, loser: string]> {
    const exits = racers.map(async (racer) => {
      await this.#next(racer.process, "close");
      return racer;
    });
    for (const { process } of racers) process.stdin?.write("go\n");
    const loser = await Promise.race(exits);
    const winner = racers.find((racer) => racer !== loser);
    if (!winner) throw new Error("A race needs two.");
    return [winner, loser.name];
  }

  /** A command of the real command line, as one agent, with what it prints. Gives its exit status. */
  async #dibs(agent: string, words: readonly string[]): Promise<number> {
    const { paint } = this.#output.screen();
    const shell = words.map((word) => (/^[\w-]+$/.test(word) ? word : `'${word}'`)).join(" ");
    this.#say(agent, paint.bold(`$ dibs ${shell}`));
    const child = this.#start(agent, words, ["ignore", "pipe", "pipe"]);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#say(agent, line));
    }
    const [exit] = await this.#next(child, "close");
    return exit as number;
  }

  #next(emitter: NodeJS.EventEmitter, event: string): Promise<unknown[]> {
    return once(emitter, event, { signal: this.#signal });
  }

  #start(agent: string, words: readonly string[], stdio: ("pipe" | "ignore" | "inherit")[]): ChildProcess {
    const main = packageFile("dist/cli/main.js");
    const color = this.#output.screen().paint.red("") === "" ? "NO_COLOR" : "FORCE_COLOR";
    const variables = { DIBS_STORE: this.#store, DIBS_AGENT: agent, DIBS_URL: "", DIBS_SESSION: "", [color]: "1" };
    const child = spawnWith(variables, [process.execPath, main, ...words], { stdio });
    this.#processes.add(child);
    child.once("exit", () => this.#processes.delete(child));
    return child;
  }

  #scene(text: string): void {
    this.#output.data(["", this.#output.screen().paint.bold(text)]);
  }

  #say(who: string, text: string): void {
    const { paint } = this.#output.screen();
    this.#output.data([`  ${paint.cyan(who.padEnd(6))}${paint.dim("│")} ${text}`]);
  }
}
