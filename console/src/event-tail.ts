import type { Dibs, Output } from "../../src/client/index.js";

export type EventRow = Output<"list_events">[number];

const PAGE = 200;

/** The newest events of the workspace, kept current with one small question a time. */
export class EventTail {
  readonly #dibs: Dibs;
  readonly #kept: number;
  #after: string | undefined;
  #newest: readonly EventRow[] = [];

  constructor(dibs: Dibs, kept: number) {
    this.#dibs = dibs;
    this.#kept = kept;
  }

  /** The newest first, at most as many as are kept. */
  async newest(signal: AbortSignal): Promise<readonly EventRow[]> {
    for (;;) {
      const question =
        this.#after === undefined ? { newest: true, limit: this.#kept } : { after: this.#after, limit: PAGE };
      const rows = await this.#dibs.listEvents(question, { signal });
      this.#after = rows.at(-1)?.id ?? this.#after ?? "0";
      this.#newest = [...rows].reverse().concat(this.#newest).slice(0, this.#kept);
      if (rows.length < PAGE) return this.#newest;
    }
  }
}
