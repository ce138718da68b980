import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { grouped } from "../grouped.js";
import { freeUp, withdrawOffer } from "../line/line.js";
import { isOffered, namesOf } from "../line/line-order.js";
import { asHolder, waitsNear } from "../line/line-tickets.js";
import type { CapacityRow, ScopeClaimRow } from "../port/scope-rows.js";
import { isClaimLive } from "./scope-conflicts.js";
import { namespaceOf, nearTo, scopeOf } from "./scope-names.js";
import { hasPlaces, placesTaken } from "./scope-places.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** So many sessions may hold a flat scope at once; 1, as of any other, where nobody says otherwise (R32). */
export const set_scope_capacity: Handler<Input<"set_scope_capacity">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const scope = scopeOf(context, input.scope, project);
  if (!hasPlaces(scope))
    throw invalidInput("scope", "must be one name of a flat kind, as slot:gpu; trees and patterns have no places");
  const namespace = namespaceOf(context, scope, project);
  const { tx, workspaceId } = context;
  await tx.scopes.alone(workspaceId);
  const [before] = await tx.scopes.capacities([{ namespace, key: scope.key }]);
  const { capacity } = input;
  const named = { namespace, scope: scope.text, kind: scope.kind.name, key: scope.key };
  const row = { workspace_id: workspaceId, project_id: project.id, ...named, capacity };
  const holders = await holdersOf(context, row);
  const was = before?.capacity ?? 1;
  if (was !== capacity) {
    await tx.scopes.setCapacity(row);
    await record(context, "scope.capacity_changed", { project_id: project.id }, { scope: scope.text, capacity, was });
    // What sleeps because of its holders, or waits in line, may have a place now.
    if (capacity > was && (await tx.scopes.unpark(holders.map(({ seq }) => seq))) > 0) context.heads.spoil();
    if (capacity > was) {
      freeUp(tx, row, [row]);
      context.woke();
    } else await takeBack(context, row, holders);
  }
  return { body: view(row, holders) };
};

/** Offers that go beyond the places that are left are taken back, the last in line first: else nobody could accept any of them. */
async function takeBack(context: Context, row: CapacityRow, holders: readonly ScopeClaimRow[]): Promise<void> {
  const { tx, nowMs } = context;
  const having: Pick<ScopeClaimRow, "task_id" | "holder_session">[] = [...holders];
  for (const wait of await waitsNear({ tx }, [row])) {
    const name = namesOf(wait).find(({ namespace, key }) => namespace === row.namespace && key === row.key);
    if (name?.mode !== "exclusive" || !isOffered(wait, nowMs)) continue;
    const before = placesTaken(having);
    having.push(asHolder(wait, name, nowMs));
    const after = placesTaken(having);
    if (after === before || after <= row.capacity) continue;
    having.pop();
    await withdrawOffer(tx, wait, "there are fewer places now.", context);
  }
}

function view({ project_id, scope, capacity }: CapacityRow, holders: readonly ScopeClaimRow[]) {
  const taken = placesTaken(holders);
  return { project_id, scope, capacity, taken, free: Math.max(0, capacity - taken) };
}

/** Who holds that very name alone, as it is now. */
async function holdersOf(context: Context, row: Named): Promise<ScopeClaimRow[]> {
  return (await holdersByName(context, [row])).get(nameOf(row)) ?? [];
}

type Named = Pick<CapacityRow, "namespace" | "key">;
const nameOf = ({ namespace, key }: Named) => `${namespace} ${key}`;

/** The same of many names, read for all of them together: a page has up to 1,000. */
async function holdersByName({ tx, nowMs }: Context, rows: readonly Named[]): Promise<Map<string, ScopeClaimRow[]>> {
  const near: ScopeClaimRow[] = [];
  for (const [namespace, named] of grouped(rows, (row) => row.namespace))
    near.push(...(await tx.scopes.nearAny(namespace, named.map(nearTo))));
  return grouped(
    near.filter((claim) => claim.mode === "exclusive" && isClaimLive(claim, nowMs)),
    nameOf,
  );
}

export const list_scope_capacities: Handler<Input<"list_scope_capacities">> = async (context, input) => {
  const page = pageOf("capacities", input);
  const projectId = input.project_id === undefined ? null : (await projectOf(context, input.project_id)).id;
  const rows = await context.tx.scopes.listCapacities(context.workspaceId, projectId, page);
  const holders = await holdersByName(context, rows);
  const body = rows.map((row) => view(row, holders.get(nameOf(row)) ?? []));
  return { body, ...cursorAfter("capacities", rows, page, (row) => [row.seq]) };
};
