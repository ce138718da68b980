import { tmpdir } from "node:os";
import { operations } from "dibs/contract";
import { commands } from "../../src/cli/commands/commands.js";
import { CommandLine, type Ran } from "../support/dibs-command.js";
import type { Asking, Entrance, Fields, Heard } from "./surface.js";
import type { World } from "./world.js";

const NAMES = Object.keys(operations);

/** The command line, as a client of the server or on the bare file. */
export function cli(way: "server" | "file"): Entrance {
  return {
    name: way === "server" ? "the command line over HTTP" : "the command line on the bare file",
    ...(way === "file" ? { onFile: true } : {}),
    // Each operation both ways: what works on one, what is refused on the other.
    asks: (operation, refused) =>
      (NAMES.indexOf(operation) % 2 === 0) === ((way === "server") === (refused === undefined)),
    open: (world) => ({
      ask: async (asking) => heardOf(await dibs(argumentsFor(asking), placeOf(world, way, asking.as))),
      close: async () => undefined,
    }),
  };
}

/** Runs `dibs` to its end. */
export function dibs(args: readonly string[], env: Record<string, string>, stdin = ""): Promise<Ran> {
  return new CommandLine(tmpdir(), env).run(args, stdin);
}

export function placeOf(world: World, way: "server" | "file", as: Asking["as"]): Record<string, string> {
  return way === "server"
    ? { DIBS_URL: world.url, DIBS_KEY: as.key }
    : { DIBS_STORE: world.store, DIBS_AGENT: as.name };
}

/** With `--json` a command prints exactly one JSON value, refusals included. */
export function heardOf({ exit, stdout, stderr }: Ran): Heard {
  if (stdout === "") throw new Error(`dibs ended with ${exit} and said only: ${stderr}`);
  const body = JSON.parse(stdout) as { code?: string; status?: number; type?: string };
  const refused = typeof body?.type === "string" && body.type.includes("/problems/");
  const cursor = /add --cursor (\S+)/.exec(stderr)?.[1];
  return { code: refused ? String(body.code) : "ok", body, cursor, exit };
}

/** The line for a call: what stands by position, flags for plain values, one JSON object for the rest. */
export function argumentsFor({ operation, input, session, ifVersion, idempotencyKey }: Omit<Asking, "as">): string[] {
  const named = commands.find((row) => row.named === operation);
  const row = named ?? commands.find((each) => each.operation === operation && !each.hidden && !each.also);
  const hidden = row ?? commands.find((each) => each.operation === operation);
  if (!hidden) throw new Error(`No command is ${operation}.`);
  const positionals = [...(hidden.positionals ?? []), ...(named ? ["task_id"] : [])];
  const rest = hidden.rest?.field;
  const { flags, json } = flagsOf(
    Object.entries(input).filter(([field]) => field !== rest && !positionals.includes(field)),
  );
  return [
    ...hidden.words.split(" "),
    "--json",
    ...(session === undefined ? [] : ["--session", session]),
    ...(ifVersion === undefined ? [] : ["--if-version", String(ifVersion)]),
    ...(idempotencyKey === undefined ? [] : ["--idempotency-key", idempotencyKey]),
    ...flags,
    ...(Object.keys(json).length === 0 ? [] : ["--json-input", JSON.stringify(json)]),
    "--",
    ...positionals.map((field) => String(input[field])),
    ...[rest === undefined ? [] : (input[rest] ?? [])].flat().map(String),
  ];
}

function flagsOf(fields: [string, unknown][]): { flags: string[]; json: Fields } {
  const flags: string[] = [];
  const json: Record<string, unknown> = {};
  for (const [field, value] of fields) {
    const flag = `--${field.replaceAll("_", "-")}`;
    if (typeof value === "boolean") flags.push(value ? flag : flag.replace("--", "--no-"));
    else if (typeof value === "number") flags.push(flag, String(value));
    else if (typeof value === "string") flags.push(`${flag}=${value}`);
    else if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
      flags.push(...value.flatMap((each) => [flag.replace(/s$/, ""), each]));
    } else json[field] = value;
  }
  return { flags, json };
}
