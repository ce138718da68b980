import { invalidInput } from "../../contract/errors.js";
import { RESERVED_KIND, SCOPE_KINDS, type ScopeKinds } from "../../contract/scope-kind.js";
import type { OwnKinds, Settings } from "../../contract/workspace.js";
import type { Context } from "../context.js";

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const OWN_MAX = 100;

const known = new WeakMap<Settings, ScopeKinds>();

/** The kinds of the workspace: those that every workspace has, and its own (R29). */
export function kindsOf({ settings }: Pick<Context, "settings">): ScopeKinds {
  let kinds = known.get(settings);
  if (!kinds) {
    const own = Object.entries(settings.kinds).map(([name, { tree, shared }]) => {
      const shape = tree ? ("tree" as const) : ("flat" as const);
      return [name, { name, shape, reach: shared ? ("workspace" as const) : ("project" as const) }] as const;
    });
    kinds = own.length === 0 ? SCOPE_KINDS : new Map([...SCOPE_KINDS, ...own]);
    known.set(settings, kinds);
  }
  return kinds;
}

/**
 * Refuses kinds that can't be: misnamed, or of every workspace; and the loss of what is in use, whose names would mean
 * nothing, or something else, from then on. Throws `invalid_input`.
 */
export async function mayHaveKinds(context: Context, was: OwnKinds, is: OwnKinds): Promise<void> {
  for (const name of Object.keys(is)) {
    if (!NAME.test(name))
      throw invalidInput("kinds", `must be named [a-z][a-z0-9_-]{0,31}, not ${JSON.stringify(name.slice(0, 80))}`);
    if (SCOPE_KINDS.has(name)) throw invalidInput("kinds", `can't redefine ${name}, which every workspace has`);
    if (name === RESERVED_KIND) throw invalidInput("kinds", `can't define ${name}: who claims a task holds it`);
  }
  if (Object.keys(is).length > OWN_MAX) throw invalidInput("kinds", `must be at most ${OWN_MAX}`);
  const changed = Object.entries(was).filter(([name, { tree, shared }]) => {
    const next = Object.hasOwn(is, name) ? is[name] : undefined;
    return next === undefined || next.tree !== tree || next.shared !== shared;
  });
  if (changed.length === 0) return;
  const used = await context.tx.scopes.kindsInUse(
    context.workspaceId,
    changed.map(([name]) => name),
  );
  if (used.length === 0) return;
  const names = used.sort().join(", ");
  throw invalidInput(
    "kinds",
    `${names}: can't be removed or changed while such scopes are held, waited for, frozen, given places, or declared: for unlanded work, or by tasks (by closed ones, too: they may be opened again)`,
  );
}
