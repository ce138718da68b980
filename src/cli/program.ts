import { Command } from "commander";
import { commands, groups } from "./commands/commands.js";
import { termOf } from "./commands/late-command.js";
import { type Finish, globalOptions, operationCommand } from "./commands/operation-command.js";
import { ownCommands } from "./commands/own-commands.js";

const ABOUT = "Where AI coding agents call dibs: one shared queue of tasks with atomic, leased claims.";

const HELP = `
Start here:
  $ dibs demo                              see what it does, in a store that goes away again
  $ dibs up                                serve HTTP, MCP and the page
  $ dibs task add "Fix the login test"     no server needed: your own file
  $ dibs task claim                        take the next task
  $ dibs work -- ./do-task.sh              take task after task

Where the commands go:
  DIBS_URL, DIBS_KEY   a server, and the key that says who you are there
  DIBS_STORE           else this store, as sqlite:PATH or postgres://…; without it your own file
  DIBS_AGENT           who you are on the store; without it your user name
  DIBS_SESSION         the session that holds; without it one per agent, terminal and worktree
  DIBS_PROJECT         the project, by id or key; without it the git repository's, the same in all its
                       worktrees and clones: dibs project here

Exit status: 0 ok, 1 error, 2 usage, 3 nothing to claim, 4 conflict, 5 lease lost, 6 key or role,
7 unreachable, 8 timed out, 130 interrupted. Every write takes --idempotency-key, to repeat it safely.`;

/** The whole command line. `finish` gets the exit status of the command that ran. */
export function buildProgram(version: string, finish: Finish): Command {
  const program = new Command("dibs")
    .description(ABOUT)
    .version(version)
    .enablePositionalOptions()
    .configureHelp({ subcommandTerm: termOf, subcommandDescription: (command) => firstSentence(command.description()) })
    .addHelpText("after", HELP);
  for (const [name, about] of Object.entries(groups)) program.command(name).description(about);
  for (const row of commands)
    parentOf(program, row.words).addCommand(operationCommand(row, finish), { hidden: row.hidden });
  for (const { words, command, hidden } of ownCommands(finish)) {
    for (const option of globalOptions()) command.addOption(option);
    parentOf(program, words).addCommand(command, { hidden });
  }
  for (const option of globalOptions()) program.addOption(option);
  strict(program);
  return program;
}

/** In a list of commands; the command's own help says the rest. */
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function parentOf(program: Command, words: string): Command {
  const [group] = words.split(" ");
  const parent = words.includes(" ") ? program.commands.find((command) => command.name() === group) : program;
  if (!parent) throw new Error(`No group of commands is named ${group}.`);
  return parent;
}

/** Mistakes come out as exceptions, with the command's help a flag away. */
function strict(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  command.showSuggestionAfterError(true);
  for (const sub of command.commands) strict(sub);
}
