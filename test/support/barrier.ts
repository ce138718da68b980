import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const GATE = fileURLToPath(new URL("./children/gate.mjs", import.meta.url));

/** A child that waits, fully loaded, until all are let go at one instant. */
export interface Waiting {
  readonly ready: Promise<void>;
  go(atMs: number): void;
}

export interface Finished {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** From the instant of the start until the process was gone, ms. */
  readonly tookMs: number;
}

/** Time between "all are ready" and the common instant, so that the word reaches everybody before it. */
const LEAD_MS = 60;

/** Waits until everybody is ready, then names one instant at which all start; resolves with it (ms since 1970). */
export async function startTogether(children: readonly Waiting[]): Promise<number> {
  await Promise.all(children.map((child) => child.ready));
  const atMs = Date.now() + LEAD_MS;
  for (const child of children) child.go(atMs);
  return atMs;
}

/** A Node program as a process that stops at the gate before its first line. */
export class GatedProcess implements Waiting {
  readonly ready: Promise<void>;
  readonly finished: Promise<Finished>;
  readonly #child: ChildProcess;
  #startedAtMs = 0;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, ["--import", GATE, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    this.ready = new Promise((resolve, reject) => {
      child.once("message", () => resolve());
      child.once("exit", (code) => reject(new Error(`A child ended with ${code} before the start.`)));
    });
    this.finished = this.#collect(child);
  }

  go(atMs: number): void {
    this.#startedAtMs = atMs;
    this.#child.send({ atMs });
  }

  #collect(child: ChildProcess): Promise<Finished> {
    const out = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream]?.setEncoding("utf8").on("data", (chunk: string) => {
        out[stream] += chunk;
      });
    }
    return new Promise((resolve) => {
      child.once("close", (exit) => resolve({ ...out, exit, tookMs: Date.now() - this.#startedAtMs }));
    });
  }
}
