import type { Context } from "../context.js";
import type { TaskRow } from "../port/rows.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import type { Wanted } from "../scopes/scope-names.js";
import { capacitiesOf, mayHavePlaces, placeOf } from "../scopes/scope-places.js";
import { declared } from "../tasks/task-scopes.js";

type Declaring = Pick<TaskRow, "id" | "seq" | "project_id" | "scopes" | "priority">;

/** What tasks declare, and how many places these names have: read once, whatever is counted of them afterwards. */
export interface Touching {
  readonly wanted: ReadonlyMap<number, readonly Wanted[]>;
  readonly capacities: ReadonlyMap<string, number>;
}

/** 10,000 patterns that begin with a wildcard are 50 million pairs, and took minutes of the thread that answers reads. */
export const PATTERNS_TRIED_MAX = 200_000;

export async function touchingOf(context: Context, tasks: readonly Declaring[]): Promise<Touching> {
  const wanted = new Map<number, readonly Wanted[]>();
  for (const task of tasks) if (task.scopes !== null) wanted.set(task.seq, await declared(context, task));
  const taking = [...wanted.values()].flat().filter(takesPlace);
  return { wanted, capacities: await capacitiesOf(context, taking) };
}

/**
 * How many of the tasks can be held at once, beside those that are: each in hand-out order is counted whose names overlap
 * none of those counted before (R16, R27, R32). Another choice may have room for more, and finding the most takes a time
 * that grows with their power set; this is what workers get who claim one after another. Ends, with those counted so far,
 * when `tries` of patterns are used up.
 */
export function heldAtOnce(
  touching: Touching,
  tasks: readonly Declaring[],
  beside: readonly Declaring[] = [],
  tries = { left: PATTERNS_TRIED_MAX },
): number {
  const taken = new Taken(touching.capacities);
  const wantedBy = ({ seq }: Declaring) => touching.wanted.get(seq) ?? [];
  for (const task of beside) taken.take(wantedBy(task));
  let count = 0;
  for (const task of inHandOutOrder(tasks)) {
    const wanted = wantedBy(task);
    if (tries.left <= taken.tried) break;
    if (!taken.leaves(wanted)) continue;
    taken.take(wanted);
    count += 1;
  }
  tries.left -= taken.tried;
  return count;
}

/** Given in the order in which they were made. */
function inHandOutOrder<T extends Declaring>(tasks: readonly T[]): T[] {
  return [...tasks].sort((a, b) => b.priority - a.priority || a.seq - b.seq);
}

function takesPlace({ mode, scope }: Wanted): boolean {
  return mode === "exclusive" && mayHavePlaces(scope);
}

/** Names that tasks hold, each once however many share it: what would be met a thousand times is looked at once. */
class Taken {
  readonly #shared = new OverlapIndex<Wanted>([], keyed);
  readonly #alone = new OverlapIndex<Wanted>([], keyed);
  /** By mode and name, how many hold it. */
  readonly #holders = new Map<string, number>();

  constructor(readonly capacities: ReadonlyMap<string, number>) {}

  get tried(): number {
    return this.#shared.tried + this.#alone.tried;
  }

  leaves(wanted: readonly Wanted[]): boolean {
    return wanted.every((each) => {
      const { mode, scope, namespace } = each;
      const name = { namespace, key: scope.key };
      if (mode === "shared") return isEmpty(this.#alone.met(name));
      if (!isEmpty(this.#shared.met(name))) return false;
      if (!takesPlace(each)) return isEmpty(this.#alone.met(name));
      for (const other of this.#alone.met(name)) if (other.scope.key !== scope.key) return false;
      return (this.#holders.get(inMode(each)) ?? 0) < (this.capacities.get(placeOf(each)) ?? 1);
    });
  }

  take(wanted: readonly Wanted[]): void {
    for (const each of wanted) {
      const before = this.#holders.get(inMode(each)) ?? 0;
      this.#holders.set(inMode(each), before + 1);
      if (before === 0) (each.mode === "shared" ? this.#shared : this.#alone).add(each);
    }
  }
}

const keyed = ({ namespace, scope }: Wanted) => ({ namespace, key: scope.key });
const inMode = (wanted: Wanted) => `${wanted.mode} ${placeOf(wanted)}`;
const isEmpty = (found: Generator<unknown>) => found.next().done === true;
