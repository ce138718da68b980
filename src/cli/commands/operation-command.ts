import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { readConfig } from "../../config.js";
import { operations } from "../../contract/operations.js";
import { usage } from "../failure.js";
import { Output } from "../output.js";
import type { CommandRow } from "./commands.js";
import { clearOption, flagsOf } from "./flags.js";
import { LateCommand } from "./late-command.js";

type Values = Readonly<Record<string, unknown>>;

/** What a finished command does with its exit status. */
export type Finish = (exit: number) => void;

/** The command of one row of the table: arguments, flags and help made from its operation. */
export function operationCommand(row: CommandRow, finish: Finish): Command {
  const chosen = [operations[row.operation], ...(row.named ? [operations[row.named]] : [])];
  const positionals = row.positionals ?? [];
  const flags = () => chosen.flatMap((operation) => flagsOf(operation, taken(row, positionals)));
  const command = new LateCommand(row.words.split(" ").at(-1), (self) => {
    const byField = new Map(flags().map((flag) => [flag.field, flag]));
    for (const option of [...byField.values()].flatMap((flag) => flag.options)) self.addOption(option);
    for (const option of sharedOptions(row)) self.addOption(option);
  });
  command.description(chosen.map(({ summary }) => summary).join(" With an id: "));
  for (const field of positionals) command.addArgument(new Argument(`<${label(field)}>`));
  if (row.rest) command.addArgument(restArgument(row.rest));
  if (row.named) command.addArgument(new Argument("[ID]", "the task; without it the next one"));
  command.addHelpText("after", ["", "Examples:", ...row.examples.map((example) => `  $ ${example}`)].join("\n"));
  command.action(async (...args: unknown[]) => {
    const self = args.at(-1) as Command;
    const values = self.optsWithGlobals();
    const { runOperation, operationFor } = await import("../run-operation.js");
    const operation = operationFor(row, self.args.length > positionals.length);
    const input = {
      ...(values.json === true ? {} : row.defaults),
      ...row.always,
      ...given(await Promise.all(flags().map(({ field, read }) => meant(field, read(values))))),
      ...Object.fromEntries(((values.clear as string[]) ?? []).map((field) => [field, null])),
      ...(await positional(row, positionals, self.args)),
    };
    const asked = {
      row,
      operation,
      input: fitting(row, input, Object.keys(operation.input.shape)),
      jsonInput: values.jsonInput as string | undefined,
      session: values.session as string | undefined,
      ifVersion: values.ifVersion as number | undefined,
      idempotencyKey: values.idempotencyKey as string | undefined,
      asksGit: values.git !== false,
    };
    const output = new Output(values.json === true, readConfig().color);
    if (values.follow !== true) return finish(await runOperation(asked, output));
    const { followEvents } = await import("../follow-events.js");
    finish(await followEvents(asked.input, output));
  });
  return command;
}

/** Of the flags only those that were given, so that they stand before what goes without saying. */
function given(entries: readonly (readonly [string, unknown])[]): Values {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function label(field: string): string {
  return field.endsWith("_id") ? "ID" : field.toUpperCase();
}

function restArgument({ field, optional }: NonNullable<CommandRow["rest"]>): Argument {
  const several = field.endsWith("s") ? "..." : "";
  const name = `${field.replace(/s$/, "").toUpperCase()}${several}`;
  return new Argument(optional ? `[${name}]` : `<${name}>`, "a file of this worktree, or a scope as port:3000");
}

function taken(row: CommandRow, positionals: readonly string[]): readonly string[] {
  const named = row.named ? [...positionals, "task_id"] : positionals;
  return [...named, ...(row.rest ? [row.rest.field] : []), ...Object.keys(row.always ?? {})];
}

async function positional(row: CommandRow, positionals: readonly string[], args: readonly string[]): Promise<Values> {
  const fields = row.named ? [...positionals, "task_id"] : positionals;
  const all = args.map((text, at) => [fields[at] ?? row.rest?.field ?? "", text] as const);
  const said = row.scopes ? await scopesGiven(all) : args;
  const values: Record<string, unknown> = Object.fromEntries(fields.map((field, at) => [field, said[at]]));
  const rest = said.slice(fields.length);
  if (row.rest && rest.length > 0) values[row.rest.field] = row.rest.field.endsWith("s") ? rest : rest[0];
  return values;
}

/** A flag's value; what stands for scopes is read as a person says them, whichever command it is. */
async function meant(field: string, value: unknown): Promise<readonly [string, unknown]> {
  const texts = [value].flat();
  if (!isOfScopes(field) || !texts.every((text) => typeof text === "string")) return [field, value];
  const said = await scopesGiven(texts.map((text) => [field, text] as const));
  return [field, Array.isArray(value) ? said : said[0]];
}

/** Only what stands for a scope is read as one: `unlanded declare` begins with a branch. */
async function scopesGiven(args: readonly (readonly [field: string, text: string])[]): Promise<string[]> {
  const { scopeGiven } = await import("../git/scope-given.js");
  return args.map(([field, text]) => (isOfScopes(field) ? scopeGiven(text, process.cwd()) : text));
}

const isOfScopes = (field: string) => /^scopes?$/.test(field);

/** Only what was given; a flag that belongs to the command's other operation is a mistake. */
function fitting(row: CommandRow, input: Values, allowed: readonly string[]): Values {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const astray = given.find(([field]) => row.named && !allowed.includes(field));
  if (!astray) return Object.fromEntries(given);
  const flag = `--${astray[0].replaceAll("_", "-")}`;
  const hint = allowed.includes("task_id") ? "leave out the task's ID" : "name the task's ID";
  throw usage(`${flag} can't be used here: ${hint}, or leave ${flag} out.`).error;
}

function sharedOptions(row: CommandRow): Option[] {
  const operation = operations[row.operation];
  const errors: readonly string[] = operation.errors;
  const clear = clearOption(operation);
  const whole = (text: string) => {
    if (/^\d+$/.test(text)) return Number(text);
    throw new InvalidArgumentError("It must be a whole number.");
  };
  return [
    ...(clear ? [clear] : []),
    ...(row.follow
      ? [new Option("--follow", "Go on with what comes, until Ctrl-C; with --json one value a line.")]
      : []),
    ...(errors.includes("version_mismatch")
      ? [new Option("--if-version <n>", "Refuse unless the record still has this version.").argParser(whole)]
      : []),
    ...(row.fromGit ? [new Option("--no-git", "Take nothing from the repository around, only what is given.")] : []),
    ...(operation.effect === "write"
      ? [
          new Option(
            "--idempotency-key <text>",
            "Repeat a call safely: the same key gives the first answer.",
          ).hideHelp(),
        ]
      : []),
    new Option("--json-input <json>", "Fields as one JSON object; `-` reads it from stdin."),
    ...globalOptions(),
  ];
}

/** What every command takes, before or after its words. */
export function globalOptions(): Option[] {
  return [
    new Option("--json", "Print exactly one JSON value; messages go to stderr."),
    new Option("--session <id>", "Act in this session (else DIBS_SESSION, else this terminal's own)."),
  ];
}
