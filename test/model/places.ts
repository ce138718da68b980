import { collide, isSameName, type Wanted } from "./names.js";
import type { Session, Task } from "./records.js";

/** Who has a name or wants one: a claim, or a ticket with several. */
type Party = { readonly session: Session | null; readonly task: Task | null } & (
  | Wanted
  | { wanted: readonly Wanted[] }
);

const namesOf = (party: Party): readonly Wanted[] => ("wanted" in party ? party.wanted : [party]);

/** Flat names that so many may have at once, each for itself; all others one (R32). */
export class Places {
  readonly #numbers = new Map<string, number>();

  set({ name, space }: Omit<Wanted, "mode">, number: number): void {
    this.#numbers.set(`${space} ${name.text}`, number);
  }

  of({ name, space }: Omit<Wanted, "mode">): number {
    return this.#numbers.get(`${space} ${name.text}`) ?? 1;
  }

  /** How many there are of each name that has more than one. */
  several(): number[] {
    return [...this.#numbers.values()].filter((number) => number > 1).sort();
  }

  /** Of others that collide those who keep an asker from what it wants: whoever has one of several places doesn't, while one is free. */
  inTheWay<P extends Party>(others: readonly P[], wanted: readonly Wanted[]): P[] {
    const keeping = new Set<P>();
    for (const each of wanted) {
      const met = others.filter((other) => namesOf(other).some((name) => collide(name, each)));
      const placed = met.filter((other) =>
        namesOf(other).every((name) => !collide(name, each) || isPlaceOf(name, each)),
      );
      const isFull = this.taken(placed, each) >= this.of(each);
      for (const other of met) if (isFull || !placed.includes(other)) keeping.add(other);
    }
    return others.filter((other) => keeping.has(other));
  }

  /** A claim is a session's, for a task or for none (R33): one place each. What is for no task is where its session is already. */
  taken(parties: readonly Party[], wanted: Wanted): number {
    const having = parties.filter((party) => namesOf(party).some((name) => isPlaceOf(name, wanted)));
    const tasks = new Set(having.flatMap(({ task }) => task ?? []));
    const there = new Set(having.flatMap(({ session, task }) => (task ? session : [])));
    const alone = new Set(having.flatMap(({ session, task }) => (task || there.has(session) ? [] : session)));
    return tasks.size + alone.size;
  }
}

/** Only for oneself, and by that very name; a pattern, and who would share it, meets all who have one. */
function isPlaceOf(name: Wanted, wanted: Wanted): boolean {
  return name.mode === "exclusive" && wanted.mode === "exclusive" && isSameName(name, wanted);
}
