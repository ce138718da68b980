import { DibsError } from "../../contract/errors.js";
import { isScopeMistake, parseScope, type Scope } from "../../contract/scope.js";
import type { Context } from "../context.js";
import type { ProjectRow } from "../port/rows.js";
import type { Near, ScopeMode } from "../port/scope-rows.js";
import { kindsOf } from "./own-kinds.js";
import { ancestorKeys, indexKey, subtreeRange } from "./scope-keys.js";

/** A scope as somebody wants it, and whose names it is one of. */
export interface Wanted {
  readonly scope: Pick<Scope, "text" | "key"> & { readonly kind: Pick<Scope["kind"], "name"> };
  readonly mode: ScopeMode;
  readonly namespace: string;
}

type Given = string | { readonly scope: string; readonly mode?: ScopeMode | undefined };

/** Reads a scope of the project; throws `invalid_scope` with the segment at fault. */
export function scopeOf(context: Pick<Context, "settings">, text: string, project: ProjectRow): Scope {
  const read = parseScope(text, { kinds: kindsOf(context), caseInsensitive: project.case_insensitive === 1 });
  if (!isScopeMistake(read)) return read;
  const { scope, segment, message } = read;
  throw new DibsError("invalid_scope", message, { scope, segment });
}

export function namespaceOf(context: Pick<Context, "workspaceId">, scope: Scope, project: ProjectRow): string {
  return scope.kind.reach === "workspace" ? context.workspaceId : project.id;
}

/** Reads all of them, each name once: wanted in both modes, it is wanted for oneself. */
export function wantedOf(
  context: Context,
  given: readonly Given[],
  project: ProjectRow,
  mode: ScopeMode = "exclusive",
): Wanted[] {
  const all = new Map<string, Wanted>();
  for (const each of given) {
    const { scope: text, mode: own = mode } = typeof each === "string" ? { scope: each } : each;
    const scope = scopeOf(context, text, project);
    const before = all.get(scope.key);
    if (before?.mode === "exclusive") continue;
    all.set(scope.key, { scope, mode: own, namespace: namespaceOf(context, scope, project) });
  }
  return [...all.values()];
}

/** Where all stands that may overlap the scope. */
export function nearTo(scope: { readonly key: Scope["key"] }): Near {
  const key = indexKey(scope.key);
  return { at: ancestorKeys(key), ...subtreeRange(key) };
}
