import { DibsError, isDibsError } from "../../contract/errors.js";
import type { ScopeKey } from "../../contract/scope.js";
import type { Unlanded } from "../../contract/unlanded.js";
import type { Context } from "../context.js";
import { grouped } from "../grouped.js";
import type { TaskRow } from "../port/rows.js";
import type { UnlandedRow } from "../port/unlanded-rows.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import { nearTo } from "../scopes/scope-names.js";
import { declared } from "../tasks/task-scopes.js";
import { unlandedView } from "./unlanded-view.js";

/** A grant or a refusal says so many; who wants all asks for the list. */
const SHOWN_MAX = 20;

interface Name {
  readonly namespace: string;
  readonly key: ScopeKey;
}

/** Live interests that overlap any of the names, oldest first. */
export async function overlappingUnlanded(context: Context, names: readonly Name[]): Promise<UnlandedRow[]> {
  const { tx, nowMs } = context;
  if (names.length === 0 || !(tx.unlandedKnown || tx.unlanded.declared)) return [];
  const index = new OverlapIndex(names, (name) => name);
  const found = new Map<number, UnlandedRow>();
  for (const [namespace, named] of grouped(names, (name) => name.namespace)) {
    const near = await tx.unlanded.nearAny(namespace, named.map(nearTo), nowMs);
    for (const row of near)
      if (!found.has(row.seq) && index.meets({ namespace, key: row.key })) found.set(row.seq, row);
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq);
}

export async function unlandedBeside(context: Context, names: readonly Name[]): Promise<Unlanded[]> {
  const rows = await overlappingUnlanded(context, names);
  return rows.slice(0, SHOWN_MAX).map((row) => unlandedView(row, context.nowMs));
}

async function besideTasks(context: Context, tasks: readonly TaskRow[]): Promise<Unlanded[]> {
  const names: Name[] = [];
  for (const task of tasks)
    for (const { namespace, scope } of await declared(context, task)) names.push({ namespace, key: scope.key });
  return unlandedBeside(context, names);
}

/** What the answer to a claim of tasks says beside them; nothing where nothing overlaps (R42). */
export async function withUnlanded(context: Context, tasks: readonly TaskRow[]): Promise<{ unlanded?: Unlanded[] }> {
  const unlanded = await besideTasks(context, tasks);
  return unlanded.length > 0 ? { unlanded } : {};
}

/** The refusal with what overlaps beside; any other fault is what it was. */
export async function refusedBeside(context: Context, names: readonly Name[], fault: unknown): Promise<unknown> {
  if (!isDibsError(fault, "scope_conflict") && !isDibsError(fault, "frozen")) return fault;
  const unlanded = await unlandedBeside(context, names);
  if (unlanded.length === 0) return fault;
  return new DibsError(fault.code, fault.message, { ...fault.details, unlanded } as never);
}

/** The same for the refusal of a task. */
export async function refusedTaskBeside<C extends "scope_conflict" | "frozen">(
  context: Context,
  task: TaskRow,
  refusal: DibsError<C>,
): Promise<DibsError<C>> {
  const unlanded = await besideTasks(context, [task]);
  if (unlanded.length === 0) return refusal;
  return new DibsError(refusal.code, refusal.message, { ...refusal.details, unlanded } as never);
}
