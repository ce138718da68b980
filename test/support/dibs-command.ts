import { type ChildProcess, spawn } from "node:child_process";
import { CommandHost } from "./command-host.js";
import { DIBS, ownEnvironment } from "./server-process.js";

export interface Ran {
  /** Null when a signal ended it. */
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `dibs` command as a process of its own, in a folder and environment of the test's. */
export class DibsCommand {
  readonly finished: Promise<Ran>;
  readonly #child: ChildProcess;
  readonly #seen = { stdout: "", stderr: "" };
  readonly #watchers = new Set<() => void>();

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string, stdin = "") {
    this.#child = spawn(process.execPath, [DIBS, ...args], { env: ownEnvironment(env), cwd });
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdin?.end(stdin);
    for (const stream of ["stdout", "stderr"] as const) {
      this.#child[stream]?.setEncoding("utf8").on("data", (text: string) => {
        this.#seen[stream] += text;
        for (const look of this.#watchers) look();
      });
    }
    this.finished = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (exit) => resolve({ exit, ...this.#seen }));
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** As a reader that has gone: what is written there from now on fails with EPIPE. */
  stopReading(stream: "stdout" | "stderr"): void {
    this.#child[stream]?.destroy();
  }

  /** Resolves with the text as soon as it stands on a stream; rejects when the command ended without it. */
  until(stream: "stdout" | "stderr", text: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = text.exec(this.#seen[stream]);
        if (!found) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
      void this.finished.then((ran) => reject(new Error(`${text} was never said: ${JSON.stringify(ran)}`)));
    });
  }
}

/** What goes on for as long as it is let, or starts programs, which print where their parent does. */
const LASTING = new Set(["demo", "mcp", "run", "up", "work"]);

/** Where a test's commands run, and who they are. */
export class CommandLine {
  /** `asProcesses`: `run` is about what a process does, too. */
  constructor(
    readonly cwd: string,
    readonly env: Readonly<Record<string, string>>,
    readonly options: { readonly asProcesses?: true } = {},
  ) {}

  /** The same place, with other variables. */
  with(env: Readonly<Record<string, string>>): CommandLine {
    return new CommandLine(this.cwd, { ...this.env, ...env }, this.options);
  }

  in(cwd: string): CommandLine {
    return new CommandLine(cwd, this.env, this.options);
  }

  /** A process of its own, for what happens while it runs and for what shall begin at one instant. */
  start(args: readonly string[], stdin = ""): DibsCommand {
    return new DibsCommand(args, this.env, this.cwd, stdin);
  }

  /** Runs a command to its end: in a process that is there (`CommandHost`), unless it lasts. */
  run(args: readonly string[], stdin = ""): Promise<Ran> {
    return this.options.asProcesses ? this.start(args, stdin).finished : this.#soon(args, stdin);
  }

  /** Runs with `--json`, expects exit status 0 and gives the one value on stdout. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the command printed.
  async json(args: readonly string[], stdin = ""): Promise<any> {
    const ran = await this.#soon(["--json", ...args], stdin);
    if (ran.exit !== 0) throw new Error(`dibs ${args.join(" ")} ended with ${ran.exit}: ${ran.stdout} ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  }

  #soon(args: readonly string[], stdin: string): Promise<Ran> {
    const lasts = LASTING.has(args.find((word) => !word.startsWith("-")) ?? "");
    if (lasts) return this.start(args, stdin).finished;
    return CommandHost.idle().run({ args, env: ownEnvironment(this.env), cwd: this.cwd, stdin });
  }
}
