import { CONTEXT_VERSIONS_KEPT } from "../../contract/task.js";
import type { Context } from "../context.js";
import type { ContextVersion } from "../port/context-verbs.js";
import type { TaskRow } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";

export type ContextFields = Readonly<Record<string, unknown>>;

/** Keys that an event names. */
const TOLD_MAX = 20;

export const contextOf = (json: string | null): ContextFields => (json === null ? {} : JSON.parse(json));

/** The version of a task's context: 1 for one that came with the task, 0 where there never was any. */
export function contextVersionOf(row: Pick<TaskRow, "context" | "context_version">): number {
  return row.context_version === 0 && row.context !== null ? 1 : row.context_version;
}

/** What the columns become by this context, under its next version; nothing where it says the same. */
export function contextChange(row: TaskRow, next: ContextFields | null): TaskChange {
  const context = next === null ? null : JSON.stringify(next);
  return context === row.context ? {} : { context, context_version: contextVersionOf(row) + 1 };
}

/** Keeps the version that a change has made, if it has; what the event tells of it. */
export async function keepVersion(context: Context, before: TaskRow, after: TaskRow): Promise<object> {
  const version = contextVersionOf(after);
  if (version === contextVersionOf(before)) return {};
  // One that came with its task is kept only now that it would be lost: most stay as they came.
  if (version === 2 && !(await context.tx.contexts.version(before.seq, 1)))
    await context.tx.contexts.keep(before.seq, firstVersion(before), 0);
  const changed = changedKeys(before.context, after.context);
  const kept: ContextVersion = {
    version,
    context: after.context,
    changed: JSON.stringify(changed),
    agent_id: context.agent.id,
    session_id: context.session?.id ?? null,
    created_at: context.nowMs,
  };
  await context.tx.contexts.keep(before.seq, kept, version - CONTEXT_VERSIONS_KEPT);
  return { context_version: version, changed: changed.slice(0, TOLD_MAX) };
}

/** The context that a task came with. */
export function firstVersion(row: TaskRow): ContextVersion {
  return {
    version: 1,
    context: row.context,
    changed: JSON.stringify(changedKeys(null, row.context)),
    agent_id: row.created_by,
    session_id: null,
    created_at: row.created_at,
  };
}

function changedKeys(before: string | null, after: string | null): string[] {
  const [old, now] = [contextOf(before), contextOf(after)];
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]));
}

const isObject = (value: unknown): value is ContextFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As RFC 7396 merges: null removes, objects are merged inside, anything else takes its place. */
export function merged(target: unknown, patch: ContextFields): ContextFields {
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = isObject(value) ? merged(Object.hasOwn(result, key) ? result[key] : undefined, value) : value;
  }
  return result;
}
