import type { Model, Operation, Verdict } from "./history.js";

/**
 * Whether a history recorded from concurrent clients has an order that one client alone could have made, in which every
 * operation stands somewhere between its call and its return.
 *
 * The search of Wing and Gong (1993): take an operation that no unfinished one precedes, apply it to the model, go on
 * with the rest, and step back where nothing fits. With Lowe's improvement (2017): a set of operations done, together
 * with the state it led to, is looked into once. Calls and returns stand in one linked list, from which an operation
 * that was taken is lifted and into which it is put back, so that a step costs the same however long the history is.
 */
export function check<S, A>(history: readonly Operation<A>[], model: Model<S, A>, stepsMax = 2_000_000): Verdict<A> {
  const search = new Search(history, model);
  for (let step = 0; step < stepsMax; step++) {
    const verdict = search.step();
    if (verdict !== undefined) return verdict;
  }
  return { kind: "undecided" };
}

/** A call or a return in the list. */
interface Event<A> {
  readonly index: number;
  readonly operation: Operation<A>;
  /** Of a call whose answer is known: the event of its return. */
  answered: Event<A> | undefined;
  readonly isCall: boolean;
  before: Event<A> | undefined;
  after: Event<A> | undefined;
}

/** An operation that was taken, and what else it might have led to. */
interface Taken<S, A> {
  readonly call: Event<A>;
  readonly stateBefore: S;
  readonly others: S[];
}

class Search<S, A> {
  readonly #head: Event<A>;
  readonly #taken: Taken<S, A>[] = [];
  readonly #seen = new Set<string>();
  readonly #done: Uint16Array;
  #state: S;
  #at: Event<A> | undefined;
  /** Answered operations that are not taken yet; the others may stay out for ever. */
  #open: number;
  #legal: readonly Operation<A>[] = [];
  #stuck: readonly Operation<A>[] = [];

  constructor(
    history: readonly Operation<A>[],
    readonly model: Model<S, A>,
  ) {
    this.#state = model.initial;
    this.#done = new Uint16Array(Math.ceil(history.length / 16));
    this.#open = history.filter((operation) => Number.isFinite(operation.returnedMs)).length;
    this.#head = listOf(history);
    this.#at = this.#head.after;
  }

  /** One step of the search; the verdict when it is over. */
  step(): Verdict<A> | undefined {
    if (this.#open === 0) return { kind: "linearizable" };
    const event = this.#at;
    if (event?.isCall) {
      const states = [...this.model.next(this.#state, event.operation)];
      if (!this.#take(event, states)) this.#at = event.after;
      return undefined;
    }
    // A return whose call is not taken, or the end: nothing more fits here.
    this.#noteStuck();
    return this.#stepBack() ? undefined : { kind: "violation", legal: this.#legal, stuck: this.#stuck };
  }

  /** Takes the operation into the first of the states that was not looked into yet. */
  #take(call: Event<A>, states: S[]): boolean {
    this.#mark(call, true);
    const done = String.fromCharCode(...this.#done);
    for (let state = states.shift(); state !== undefined; state = states.shift()) {
      const text = `${done}|${this.model.textOf(state)}`;
      if (this.#seen.has(text)) continue;
      this.#seen.add(text);
      this.#taken.push({ call, stateBefore: this.#state, others: states });
      this.#state = state;
      this.#lift(call);
      this.#at = this.#head.after;
      return true;
    }
    this.#mark(call, false);
    return false;
  }

  #stepBack(): boolean {
    const last = this.#taken.pop();
    if (last === undefined) return false;
    this.#putBack(last.call);
    this.#mark(last.call, false);
    this.#state = last.stateBefore;
    if (!this.#take(last.call, last.others)) this.#at = last.call.after;
    return true;
  }

  #mark(call: Event<A>, done: boolean): void {
    const word = call.index >> 4;
    const bit = 1 << (call.index & 15);
    this.#done[word] = done ? (this.#done[word] ?? 0) | bit : (this.#done[word] ?? 0) & ~bit;
  }

  #lift(call: Event<A>): void {
    for (const event of [call, call.answered]) {
      if (event === undefined) continue;
      if (event.before) event.before.after = event.after;
      if (event.after) event.after.before = event.before;
    }
    if (call.answered) this.#open -= 1;
  }

  #putBack(call: Event<A>): void {
    for (const event of [call.answered, call]) {
      if (event === undefined) continue;
      if (event.before) event.before.after = event;
      if (event.after) event.after.before = event;
    }
    if (call.answered) this.#open += 1;
  }

  #noteStuck(): void {
    if (this.#taken.length < this.#legal.length) return;
    this.#legal = this.#taken.map(({ call }) => call.operation);
    const stuck: Operation<A>[] = [];
    for (let event = this.#head.after; event?.isCall; event = event.after) stuck.push(event.operation);
    this.#stuck = stuck;
  }
}

/** Calls and returns in order of time; of one instant the calls first, as their operations may then overlap. */
function listOf<A>(history: readonly Operation<A>[]): Event<A> {
  const events: Event<A>[] = [];
  history.forEach((operation, index) => {
    const link = { index, operation, before: undefined, after: undefined };
    const answered = Number.isFinite(operation.returnedMs)
      ? { ...link, isCall: false, answered: undefined }
      : undefined;
    events.push({ ...link, isCall: true, answered });
    if (answered) events.push(answered);
  });
  const time = ({ isCall, operation }: Event<A>) => (isCall ? operation.calledMs : operation.returnedMs);
  events.sort((a, b) => time(a) - time(b) || Number(b.isCall) - Number(a.isCall));
  const head = { index: -1, isCall: false, answered: undefined, before: undefined, after: undefined };
  const first = { ...head, operation: undefined as unknown as Operation<A> } as Event<A>;
  let last = first;
  for (const event of events) {
    event.before = last;
    last.after = event;
    last = event;
  }
  return first;
}
