/** What a mistake in no single field is called. */
export const BODY = "(body)";

/** Levels of arrays and objects an input may have, the outermost counted: whoever walks it may do so by recursion. */
export const LEVELS_MAX = 32;
// They name an object's machinery in JavaScript: parsing drops the one without a word, merging trips over both.
export const FORBIDDEN_NAMES: readonly string[] = ["__proto__", "constructor"];

/** What is wrong with text that no store keeps and no screen shows, with the remedy. */
export function hostileText(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain NUL (U+0000); remove it";
  return text.isWellFormed() ? undefined : "must be well-formed Unicode; it has half of a surrogate pair";
}

export interface ShapeFault {
  readonly field: string;
  /** What would be right. */
  readonly message: string;
}

/**
 * The first thing in a JSON value that no input may have, and where: nesting beyond `LEVELS_MAX`, names of an object's
 * machinery, and text of which `textFault` says what is wrong with it there. `path` and `level` are those of the value itself.
 */
export function shapeFault(
  value: unknown,
  path = "",
  level = 1,
  textFault?: (text: string, path: () => string) => string | undefined,
): ShapeFault | undefined {
  if (typeof value === "string")
    return faultAt(
      path,
      textFault?.(value, () => path),
    );
  if (typeof value !== "object" || value === null) return undefined;
  if (level > LEVELS_MAX) return faultAt(path, `must not be nested deeper than ${LEVELS_MAX} levels`);
  for (const key of Object.keys(value)) {
    const wrong = FORBIDDEN_NAMES.includes(key) ? "is a name that no field may have; choose another" : undefined;
    const at = () => inside(path, key);
    const message = textFault?.(key, at) ?? wrong;
    if (message !== undefined) return faultAt(at(), message);
    const item = (value as Record<string, unknown>)[key];
    // Most of an input is plain numbers and texts: they cost no path.
    if (typeof item !== "object" && (typeof item !== "string" || textFault?.(item, at) === undefined)) continue;
    const fault = shapeFault(item, at(), level + 1, textFault);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultAt(path: string, message: string | undefined): ShapeFault | undefined {
  return message === undefined ? undefined : { field: path === "" ? BODY : path, message };
}

function inside(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
