import { Command, Help, type HelpContext, type ParseOptionsResult } from "commander";

/** A command that gets its flags when it is parsed or shown: making them for all takes longer than the one that runs. */
export class LateCommand extends Command {
  #addFlags: ((command: Command) => void) | undefined;

  constructor(name: string | undefined, addFlags: (command: Command) => void) {
    super(name);
    this.#addFlags = addFlags;
  }

  ready(): this {
    const addFlags = this.#addFlags;
    this.#addFlags = undefined;
    addFlags?.(this);
    return this;
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    return this.ready() && super.parseOptions(args);
  }

  override helpInformation(context?: HelpContext): string {
    return this.ready() && super.helpInformation(context);
  }
}

/** How a command stands in the list of its group: `[options]` only where it has some. */
export function termOf(command: Command): string {
  return new Help().subcommandTerm(command instanceof LateCommand ? command.ready() : command);
}
