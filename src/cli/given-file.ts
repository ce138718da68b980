import { readFileSync } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { invalidInput } from "../contract/errors.js";

/** The text of the file that the command line names, or with `-` of stdin. Throws `invalid_input` where it can't be read. */
export async function readGiven(path: string): Promise<string> {
  if (path === "-") return textOf(process.stdin);
  try {
    return readFileSync(path, "utf8");
  } catch (fault) {
    throw fileFault("read", fault);
  }
}

/** The system's refusal of a file as its user's mistake; anything else as it is. */
export function fileFault(what: "read" | "written", fault: unknown): unknown {
  const isSystems = fault instanceof Error && "syscall" in fault;
  return isSystems ? invalidInput("FILE", `can't be ${what}: ${fault.message}`) : fault;
}
