/** One call as its client saw it: when it was sent, when it was answered (never, if it wasn't), and what was said. */
export interface Operation<A> {
  readonly client: number;
  /** Monotonic milliseconds, one clock for all clients. */
  readonly calledMs: number;
  /** Infinity: no answer came, and the call may have had its effect at any time since, or never. */
  readonly returnedMs: number;
  readonly action: A;
}

/** What a thing may do, one operation at a time. */
export interface Model<S, A> {
  readonly initial: S;
  /** Every state in which the operation may leave it; none when its answer could not have been given here. */
  next(state: S, operation: Operation<A>): readonly S[];
  /** Equal states have equal text, different states have different text. */
  textOf(state: S): string;
}

export type Verdict<A> =
  | { readonly kind: "linearizable" }
  /** Too many orders to try them all. */
  | { readonly kind: "undecided" }
  | {
      readonly kind: "violation";
      /** The longest legal order that was found. */
      readonly legal: readonly Operation<A>[];
      /** What could not be put into any order behind it. */
      readonly stuck: readonly Operation<A>[];
    };
