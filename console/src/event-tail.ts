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
    if (this.#after === undefined) this.#after = String(Math.max(0, (await this.#lastId(signal)) - this.#kept));
    for (;;) {
      const rows = await this.#dibs.listEvents({ after: this.#after, limit: PAGE }, { signal });
      const last = rows.at(-1);
      if (last === undefined) return this.#newest;
      this.#after = last.id;
      this.#newest = [...rows].reverse().concat(this.#newest).slice(0, this.#kept);
      if (rows.length < PAGE) return this.#newest;
    }
  }

  /** The log is read forward only, so its end is found by halving: some forty questions, once, however long it is. */
  async #lastId(signal: AbortSignal): Promise<number> {
    const nextAfter = async (id: number) =>
      (await this.#dibs.listEvents({ after: String(id), limit: 1 }, { signal }))[0];
    let low = 0;
    let high = 1;
    for (let next = await nextAfter(0); next !== undefined; next = await nextAfter(high)) {
      low = Number(next.id);
      high = low * 2;
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const next = await nextAfter(middle);
      if (next === undefined) high = middle;
      else low = Number(next.id);
    }
    return low;
  }
}
