import { type Config, readConfig, shownStore } from "../config.js";
import { EXIT } from "../contract/errors.js";
import type { Served } from "../server.js";
import { usage } from "./failure.js";
import type { Output } from "./output.js";

interface UpFlags {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly store: string | undefined;
}

/** Serves HTTP, MCP and the page until SIGINT or SIGTERM; a second signal ends the process at once. */
export async function up(flags: UpFlags, output: Output): Promise<number> {
  const config = readConfig({ DIBS_HOST: flags.host, DIBS_PORT: flags.port, DIBS_STORE: flags.store });
  const stopped = signalled();
  const server = await started(config);
  if (output.json) output.value({ url: server.url, sign_in_link: server.signInLink });
  else output.data(welcome(server, config, readConfig().store, output));
  await stopped;
  output.say("Stopping: calls in flight are answered; leases stay as they are.");
  await server.stop();
  return EXIT.ok;
}

async function started(config: Config): Promise<Served> {
  const { serve } = await import("../server.js");
  try {
    return await serve(config);
  } catch (error) {
    const why = CANNOT_LISTEN[(error as NodeJS.ErrnoException).code ?? ""];
    if (why === undefined) throw error;
    throw usage(`${config.host}, port ${config.port}: ${why} (--host, --port; port 0 is any free one).`).error;
  }
}

const CANNOT_LISTEN: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there, perhaps a Dibs already; stop it or choose another port",
  EACCES: "this user may not listen there; choose a port above 1023",
  EADDRNOTAVAIL: "this machine has no such address; choose one of its own",
  ENOTFOUND: "this name has no address; choose one of this machine's",
};

function welcome(server: Served, { store, command }: Config, usualStore: string, output: Output): string[] {
  const { paint } = output.screen();
  return [
    `${paint.green("Dibs serves")} ${paint.bold(server.url)} ${paint.dim(`(store ${shownStore(store)})`)}`,
    "",
    `Who holds what, live (the link signs in once, within 10 minutes):`,
    `  ${paint.cyan(server.signInLink)}`,
    "",
    ...(server.adminKeyFile ? [`The admin's key for HTTP is in ${server.adminKeyFile}`, ""] : []),
    "Try, in another terminal:",
    ...(store === usualStore ? [] : [exported(store)]),
    `  ${command} task add "Say hello"`,
    `  ${command} work --once -- sh -c 'echo "doing: $DIBS_TASK_CONTENT"; sleep 20'`,
    `  ${command} who`,
    "",
    paint.dim("Ctrl-C stops the server."),
  ];
}

/** A password is not shown: a terminal's lines are kept, and copied. */
function exported(store: string): string {
  if (shownStore(store) !== store)
    return "  export DIBS_STORE='…'   # the store as you gave it here, with its password";
  return `  export DIBS_STORE=${quoted(store)}`;
}

function quoted(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0;
    const onSignal = () => {
      if (signals++ > 0) process.exit(EXIT.interrupted);
      resolve();
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}
