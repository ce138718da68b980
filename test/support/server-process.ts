import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { RawHttp } from "./raw-http.js";

export const DIBS = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const ADMIN_KEY = "only-for-tests-0123456789abcdef";

export interface ServerSettings {
  /** Where its tasks are: `sqlite:PATH` or `postgres://…`. */
  readonly store: string;
  /** More environment, as a rate limit. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program and its arguments that start the server, as strace. */
  readonly under?: readonly string[];
  /** The port, where several servers must not share one; else any free one. */
  readonly port?: number;
}

/** `dibs up` as a process of its own, which a test may kill, pause and start again on the same port and store. */
export class ServerProcess {
  readonly key = ADMIN_KEY;
  readonly url: string;
  #child: ChildProcess;
  #stderr = "";

  private constructor(
    readonly settings: ServerSettings,
    readonly port: number,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.#child = this.#spawn();
  }

  /** Starts it and resolves when `/livez` answers. */
  static async start(settings: ServerSettings): Promise<ServerProcess> {
    const server = new ServerProcess(settings, settings.port ?? (await freePort()));
    await server.untilLive();
    return server;
  }

  /** As `start`, but resolves at once, whatever becomes of it. */
  static async launch(settings: ServerSettings): Promise<ServerProcess> {
    return new ServerProcess(settings, settings.port ?? (await freePort()));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** What the server wrote to stderr: its log. */
  get log(): string {
    return this.#stderr;
  }

  client(key: string = this.key): RawHttp {
    return new RawHttp(this.url, key);
  }

  /** Resolves with the milliseconds it took until `/livez` said ok; rejects when the process ended instead. */
  async untilLive(limitMs = 50_000): Promise<number> {
    const startedAt = performance.now();
    const http = new RawHttp(this.url, undefined);
    try {
      for (;;) {
        const answer = await http.get("/livez", { timeoutMs: 5_000 }).catch(() => undefined);
        const tookMs = performance.now() - startedAt;
        if (answer?.status === 200) return tookMs;
        if (this.#child.exitCode !== null) throw new Error(`The server ended by itself: ${this.#stderr}`);
        if (tookMs > limitMs) throw new Error(`No /livez within ${limitMs} ms: ${this.#stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
    } finally {
      http.close();
    }
  }

  /**
   * CPU time the process has used, ms: what a start costs, however busy the machine is. Undefined where there is no
   * /proc to tell.
   */
  get cpuMs(): number | undefined {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // Ticks of 10 ms in user and in system mode.
      return (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      return undefined;
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** SIGTERM, as an operator's stop. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Starts it again on the same port and store; resolves with the milliseconds from the start until `/livez`. */
  restart(): Promise<number> {
    this.#child = this.#spawn();
    return this.untilLive();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    await gone;
  }

  #spawn(): ChildProcess {
    const { store, env, under = [] } = this.settings;
    const command = [...under, process.execPath, DIBS, "up", "--port", String(this.port), "--json"];
    const child = spawn(command[0] as string, command.slice(1), {
      stdio: ["ignore", "ignore", "pipe"],
      env: ownEnvironment({
        DIBS_STORE: store,
        DIBS_ADMIN_KEY: ADMIN_KEY,
        DIBS_RATE_LIMIT: "1000000",
        DIBS_RATE_BURST: "1000000",
        DIBS_LOG: "warn",
        ...env,
      }),
    });
    // Should the test itself be ended, its servers end with it.
    const end = () => child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.removeListener("exit", end));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-20_000);
    });
    return child;
  }
}

/** The environment of a child: nothing of the developer's own Dibs, only what the test says. */
export function ownEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith("DIBS_"));
  return { ...Object.fromEntries(foreign), ...extra };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
