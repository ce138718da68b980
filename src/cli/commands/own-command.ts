import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { readConfig } from "../../config.js";
import { Output } from "../output.js";
import type { Finish } from "./operation-command.js";

/** A command that is more than one operation. */
export interface OwnCommand {
  readonly words: string;
  readonly command: Command;
  readonly hidden?: true;
}
type Values = Readonly<Record<string, unknown>>;
export type Run = (values: Values, args: readonly string[], output: Output) => Promise<number>;

/** Adds examples to its help. */
export function examples(command: Command, ...lines: readonly string[]): void {
  command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  $ ${line}`)].join("\n"));
}

/** Runs it, and hands its exit status on. */
export function running(words: string, command: Command, finish: Finish, run: Run): OwnCommand {
  command.action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command;
    const values = self.optsWithGlobals();
    finish(await run(values, self.args, new Output(values.json === true, readConfig().color)));
  });
  return { words, command };
}

/** An option that may be given several times. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** A whole number from 1 on. */
export function whole(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1 on.");
}
