import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import { projectKey } from "../../contract/workspace.js";
import { shown } from "../shown/shown-text.js";

const NAME = "dibs.json";

const content = z.strictObject({ project: projectKey });

/** The key of the project that `dibs.json` at the worktree's root names; undefined without such a file. Throws `invalid_input`. */
export function projectFile(worktree: string): string | undefined {
  const path = join(worktree, NAME);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw wrong(path, `can't be read: ${(fault as Error).message}`);
  }
  const parsed = content.safeParse(json(path, text));
  if (parsed.success) return parsed.data.project;
  const issues = parsed.error.issues.map(({ path: [field], message }) =>
    field === undefined ? message : `${String(field)}: ${message}`,
  );
  throw wrong(path, `must be {"project": "KEY"}: ${issues.join("; ")}`);
}

function json(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (fault) {
    throw wrong(path, `is no JSON: ${(fault as Error).message}`);
  }
}

function wrong(path: string, what: string): DibsError<"invalid_input"> {
  return new DibsError("invalid_input", shown(`${path} ${what}`), { fields: [{ field: NAME, message: shown(what) }] });
}
