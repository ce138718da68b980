import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Ran } from "./dibs-command.js";
import { ownEnvironment } from "./server-process.js";

const HOST = fileURLToPath(new URL("children/command-host.mjs", import.meta.url));
/** Ends what a command printed; no command prints a NUL. */
const END = "\0the command has ended\0";

export interface HostedCommand {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: string;
}

/**
 * A process that runs one `dibs` command after another: 0.04 s each, where a process for each takes ten times that. For what
 * a test has hundreds of, or sets up and looks at with; what a process does (ends, gets signals, starts others) is shown by
 * processes.
 */
export class CommandHost {
  static readonly #all = new Set<CommandHost>();
  readonly #child: ChildProcess = fork(HOST, { stdio: ["ignore", "pipe", "pipe", "ipc"], env: ownEnvironment({}) });
  readonly #ready = new Promise((resolve) => this.#child.once("message", resolve));
  /** What it said when its process has ended: a command may end it. */
  readonly #ended: Promise<Ran>;
  #seen = { stdout: "", stderr: "" };
  #exit: number | undefined;
  #look: () => void = () => undefined;
  #busy = false;

  /** One that has nothing to do, of those that the tests of this process share: commands given together run together. */
  static idle(): CommandHost {
    return [...CommandHost.#all].find((host) => !host.#busy) ?? new CommandHost();
  }

  private constructor() {
    CommandHost.#all.add(this);
    const end = () => this.#child.kill("SIGKILL");
    process.once("exit", end);
    for (const stream of ["stdout", "stderr"] as const) {
      this.#child[stream]?.setEncoding("utf8").on("data", (text: string) => {
        this.#seen[stream] += text;
        this.#look();
      });
    }
    this.#child.on("message", (exit) => {
      if (typeof exit === "number") this.#exit = exit;
      this.#look();
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (exit) => {
        process.removeListener("exit", end);
        CommandHost.#all.delete(this);
        resolve({ exit, ...this.#seen });
      });
    });
  }

  async run(command: HostedCommand): Promise<Ran> {
    this.#busy = true;
    await Promise.race([this.#ready, this.#ended]);
    this.#seen = { stdout: "", stderr: "" };
    this.#exit = undefined;
    this.#child.send({ ...command, end: END });
    const ran = await Promise.race([this.#told(), this.#ended]);
    this.#busy = false;
    return ran;
  }

  #told(): Promise<Ran> {
    return new Promise((resolve) => {
      this.#look = () => {
        const { stdout, stderr } = this.#seen;
        if (this.#exit === undefined || !stdout.endsWith(END) || !stderr.endsWith(END)) return;
        resolve({ exit: this.#exit, stdout: stdout.slice(0, -END.length), stderr: stderr.slice(0, -END.length) });
      };
    });
  }
}
