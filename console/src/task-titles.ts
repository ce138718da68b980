import { type Dibs, isDibsError } from "../../src/client/index.js";

/** Titles are shown in one or two lines; a page that is open for days must not keep whole books. */
const KEPT_CHARACTERS = 300;
const KEPT_TITLES = 5_000;
const LOOKED_UP_AT_ONCE = 20;

/** What tasks are called, as far as the page has seen or asked; events name them by id only. */
export class TaskTitles {
  readonly #dibs: Dibs;
  readonly #known = new Map<string, string>();

  constructor(dibs: Dibs) {
    this.#dibs = dibs;
  }

  get known(): ReadonlyMap<string, string> {
    return this.#known;
  }

  learn(taskId: string, title: string): void {
    this.#known.delete(taskId);
    this.#known.set(taskId, title.slice(0, KEPT_CHARACTERS));
    const oldest = this.#known.keys().next();
    if (this.#known.size > KEPT_TITLES && !oldest.done) this.#known.delete(oldest.value);
  }

  /** Asks for some of the titles that are not known yet; those of deleted tasks become known as that. */
  async lookUp(taskIds: readonly string[], signal: AbortSignal): Promise<void> {
    const missing = [...new Set(taskIds)].filter((id) => !this.#known.has(id)).slice(0, LOOKED_UP_AT_ONCE);
    await Promise.all(
      missing.map(async (id) => {
        try {
          this.learn(id, (await this.#dibs.getTask({ task_id: id }, { signal })).content);
        } catch (thrown) {
          // Any other trouble is told by the questions the page rests on; a title can wait.
          if (isDibsError(thrown, "not_found")) this.learn(id, "a deleted task");
        }
      }),
    );
  }
}
