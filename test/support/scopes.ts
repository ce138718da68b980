import {
  isScopeMistake,
  parseScope,
  type ScopeKey,
  type ScopeMistake,
  type ScopeReading,
} from "../../src/contract/scope.js";

/** The key of a scope that is right. */
export function keyOf(text: string, reading?: ScopeReading): ScopeKey {
  const read = parseScope(text, reading);
  if (isScopeMistake(read)) throw new Error(read.message);
  return read.key;
}

/** The mistake of a scope that is wrong. */
export function mistakeOf(text: string, reading?: ScopeReading): ScopeMistake {
  const read = parseScope(text, reading);
  if (!isScopeMistake(read)) throw new Error(`${JSON.stringify(text)} was read as ${read.key}`);
  return read;
}
