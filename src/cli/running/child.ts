import type { ChildProcess } from "node:child_process";
import { notStarted, spawnWith } from "./spawn-with.js";

const TAIL_BYTES = 65_536;
const GRACE_MS = 5_000;
const POLL_MS = 50;
/** How long output may still come after the end: something the program left behind may hold the pipe open for ever. */
const DRAIN_MS = 500;

export interface ChildEnd {
  /** Exit status, or the signal that ended it. */
  readonly status: number | NodeJS.Signals;
  /** The last 64 KiB of its stdout. */
  readonly output: string;
  readonly truncated: boolean;
}

interface ChildPlan {
  readonly program: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** What the program reads; null: what this process would. */
  readonly stdin: string | null;
  /** Gets what the program prints, as it prints it; null: it prints where this process does, as to a terminal. */
  readonly echo: NodeJS.WritableStream | null;
}

/** A program in a process group of its own. */
export class Child {
  /** Resolves when the program has ended, and, if it was stopped, all of its group. Rejects if it can't be started. */
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;
  #stopping: Promise<void> | undefined;

  constructor(plan: ChildPlan) {
    // A group of its own: a Ctrl-C at the terminal is ours to pass on, and a stop reaches all it started.
    // A group that isn't the terminal's own is stopped when it reads from it.
    const given = plan.stdin === null ? (process.stdin.isTTY ? "ignore" : "inherit") : "pipe";
    const stdio = [given, plan.echo === null ? "inherit" : "pipe", "inherit"] as const;
    this.#process = spawnWith(plan.variables, plan.program, { detached: true, stdio: [...stdio] });
    const tail = new Tail();
    this.#process.stdout?.on("data", (chunk: Buffer) => {
      tail.add(chunk);
      plan.echo?.write(chunk);
    });
    // A program that doesn't read its stdin is as good as one that does.
    this.#process.stdin?.on("error", () => undefined);
    this.#process.stdin?.end(plan.stdin ?? "");
    this.ended = this.#end(tail, plan.program[0] ?? "");
  }

  /** Asks the group to end (SIGTERM), and kills what is left of it after 5 s. */
  stop(): void {
    this.#stopping ??= this.#stopGroup();
  }

  /** Kills the group at once. */
  kill(): void {
    this.#signal("SIGKILL");
  }

  async #end(tail: Tail, program: string): Promise<ChildEnd> {
    const status = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
      this.#process.on("error", (error) => reject(notStarted(program, error)));
      this.#process.on("exit", (code, signal) => resolve(code ?? signal ?? "SIGKILL"));
    });
    await this.#drained();
    await this.#stopping;
    return { status, ...tail.text() };
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#process.stdout?.readableEnded ?? true) return resolve();
      const timer = setTimeout(resolve, DRAIN_MS);
      this.#process.stdout?.on("end", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #stopGroup(): Promise<void> {
    const killAtMs = performance.now() + GRACE_MS;
    for (let alive = this.#signal("SIGTERM"); alive; alive = this.#signal(0)) {
      if (performance.now() >= killAtMs) return this.kill();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Sends a signal to the group; false when nobody is left in it. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.#process;
    if (pid === undefined) return false;
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  }
}

/** The end of what a program printed, as text that can be stored. */
class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #truncated = false;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= TAIL_BYTES) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
      this.#truncated = true;
    }
  }

  text(): { output: string; truncated: boolean } {
    let bytes = Buffer.concat(this.#chunks);
    if (bytes.length > TAIL_BYTES) {
      bytes = bytes.subarray(bytes.length - TAIL_BYTES);
      this.#truncated = true;
    }
    if (this.#truncated) {
      // Not in the middle of a character.
      const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
      bytes = bytes.subarray(Math.max(0, start));
    }
    // A NUL can't be stored, and no reader misses it.
    const output = new TextDecoder().decode(bytes).replaceAll("\0", "\uFFFD");
    return { output, truncated: this.#truncated };
  }
}
