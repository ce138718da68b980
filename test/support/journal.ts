import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { RawAnswer, RawHttp } from "./raw-http.js";

/** One call as its client saw it: written down before it was sent and after it was answered. */
export interface Entry {
  readonly client: number;
  readonly path: string;
  readonly body: object;
  readonly idempotencyKey: string;
  readonly sentAtMs: number;
  /** Attempts that got no answer, before the one that did. */
  lost: number;
  answer: RawAnswer | undefined;
  answeredAtMs: number;
}

/**
 * What clients know for certain while their server is killed: every call with every answer. A call that gets no answer
 * is repeated with its Idempotency-Key until it gets one.
 */
export class Journal {
  readonly entries: Entry[] = [];
  /** Every 503, which is no answer to the call. */
  readonly unavailable: RawAnswer[] = [];
  answered = 0;

  /** `file`: kept there too, line by line, so that a failed run can be read afterwards. */
  constructor(readonly file: string) {}

  /** Makes the call until it is answered; `again` is asked between attempts and resolves when it is worth another. */
  async call(
    client: number,
    http: RawHttp,
    path: string,
    body: object,
    again: () => Promise<void>,
  ): Promise<RawAnswer> {
    const base = { client, path, body, idempotencyKey: randomUUID(), sentAtMs: performance.now() };
    const entry: Entry = { ...base, lost: 0, answer: undefined, answeredAtMs: Number.POSITIVE_INFINITY };
    this.entries.push(entry);
    this.#write({ before: base });
    for (;;) {
      try {
        const answer = await http.post(path, body, { idempotencyKey: entry.idempotencyKey });
        // A server that is stopping or starting says so; that too is no answer to the call.
        if (answer.status === 503) {
          this.unavailable.push(answer);
          throw new Error("503");
        }
        this.answered += 1;
        entry.answer = answer;
        entry.answeredAtMs = performance.now();
        this.#write({ after: entry.idempotencyKey, status: answer.status, body: answer.body });
        return answer;
      } catch (fault) {
        entry.lost += 1;
        this.#write({ lost: entry.idempotencyKey, why: String(fault) });
        await again();
      }
    }
  }

  #write(line: object): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
}
