import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { usage } from "../failure.js";
import { shown } from "../shown/shown-text.js";
import { placeOf } from "./place.js";

/**
 * A scope as a person says it: with its kind as it is; without one, a file of this worktree, named from the worktree's root
 * after symlinks are resolved (R64). Outside a worktree the working directory stands for the root.
 */
export function scopeGiven(text: string, cwd: string): string {
  // An unset "$FILE" names nothing; resolved it would be the working directory, and mean all of it. Refused as invalid_scope.
  if (text === "") return text;
  const colon = text.indexOf(":");
  if (colon > 0 && !text.slice(0, colon).includes("/") && looksLikeKind(text, colon)) return text;
  const root = placeOf(cwd).worktree ?? realpathSync(cwd);
  const name = relative(root, real(isAbsolute(text) ? text : resolve(cwd, text)));
  if (name === "") return "path:**";
  if (name === ".." || name.startsWith(`..${sep}`) || isAbsolute(name))
    throw usage(`${shown(text)} lies outside ${shown(root)}, the root that names of files begin at.`).error;
  return `path:${name.split(sep).join("/")}`;
}

/** A drive's letter is no kind; an unknown kind is refused by the grammar, which lists the workspace's own, too. */
function looksLikeKind(text: string, colon: number): boolean {
  if (/^[a-z]:[\\/]/i.test(text)) return false;
  return /^[a-z][a-z0-9_-]*$/i.test(text.slice(0, colon));
}

/** The file's real place; of what isn't there yet the folder's, with wildcards left as they are. */
function real(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(real(parent), basename(path));
}
