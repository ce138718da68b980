import { execFileSync } from "node:child_process";
import { median, percentile, progress, whole } from "../figures.js";
import { type Measured, Meter, type Span } from "./meter.js";
import type { Contestant, Mode, Subject } from "./subject.js";

export const WORKERS = [1, 10, 50] as const;

export interface Scenario {
  readonly name: string;
  readonly ready: number;
  /** So many are completed and kept before anything is measured. */
  readonly completed: number;
}

export interface Row {
  readonly contestant: string;
  readonly mode: string;
  readonly durability: string;
  /** By number of workers, as in WORKERS: medians over the rounds. */
  readonly rates: readonly number[];
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** Why there is nothing measured. */
  readonly missing?: string;
}

/** A subject in the run, with the backlog it has at the moment. */
export class Runner {
  readonly #subject: Subject;
  readonly #seconds: number;
  #ready = 0;
  #completed = 0;
  #fault: string | undefined;

  constructor(
    readonly name: string,
    subject: Subject,
    seconds: number,
  ) {
    this.#subject = subject;
    this.#seconds = seconds;
  }

  /** Why it has dropped out. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Does it unless this one has dropped out; when it fails, this one does, and the others go on. */
  async tried(work: () => Promise<void>): Promise<void> {
    if (this.#fault !== undefined) return;
    try {
      await work();
    } catch (fault) {
      this.#fault = fault instanceof Error ? fault.message : String(fault);
      progress(`${this.name} drops out: ${this.#fault}`);
    }
  }

  get keepsNothing(): string | undefined {
    return this.#subject.keepsNothing;
  }

  get modes(): Subject["modes"] {
    return this.#subject.modes;
  }

  /** Brings the store to what the scenario says. False when this queue can't be in it. */
  async bring({ ready, completed }: Scenario): Promise<boolean> {
    if (completed > 0 && this.#subject.keepsNothing) return false;
    await this.#topUp(completed - this.#completed);
    const toComplete = Math.max(completed - this.#completed, this.#ready - ready);
    // The quickest mode stands last. Without this the scenario of few would be played with what is left of the many.
    const quickest = this.modes.at(-1) ?? this.modes[0];
    if (toComplete > 0) await this.#measure(quickest, 50, { seconds: Number.POSITIVE_INFINITY, limit: toComplete });
    await this.#topUp(ready);
    if (this.#completed === 0) await this.#warmUp();
    return true;
  }

  /** Cycles of `workers` loops with that backlog; it is filled up before and shrinks by 70 % at most. */
  async cycles(mode: Mode, workers: number, ready: number): Promise<Measured> {
    await this.#topUp(ready);
    await mode.prepare?.();
    await this.#subject.settle?.();
    syncDisk();
    return this.#measure(mode, workers, { seconds: this.#seconds, limit: ready * 0.7 });
  }

  /** Tasks put into the queue one by one, by `workers` loops. */
  async enqueueing(mode: Mode, workers: number): Promise<number> {
    await mode.prepare?.();
    const meter = new Meter({ seconds: this.#seconds / 2, limit: Number.POSITIVE_INFINITY });
    const loop = async () => {
      while (!meter.over) {
        await this.#subject.enqueueOne();
        meter.took();
        meter.completed();
      }
    };
    await Promise.all(Array.from({ length: workers }, loop));
    const { perSecond, total } = meter.end();
    this.#ready += total;
    return perSecond;
  }

  close(): Promise<void> {
    return this.#subject.close();
  }

  /** Every mode once, not counted: code is compiled, connections are made, statements are planned. */
  async #warmUp(): Promise<void> {
    for (const mode of this.modes) {
      await mode.prepare?.();
      await this.#measure(mode, 10, { seconds: 1, limit: Math.min(2_000, this.#ready / 2) });
    }
  }

  async #topUp(ready: number): Promise<void> {
    if (ready <= this.#ready) return;
    await this.#subject.seed(ready - this.#ready);
    this.#ready = ready;
  }

  async #measure(mode: Mode, workers: number, span: Span): Promise<Measured> {
    const meter = new Meter(span);
    await mode.run(workers, meter);
    const measured = meter.end();
    this.#ready -= measured.total;
    this.#completed += measured.total;
    return measured;
  }
}

/** What others have written goes to the disk now: the first to be measured after a seed of 500,000 paid for all of it. */
function syncDisk(): void {
  try {
    execFileSync("sync");
  } catch {
    // Where there is no such program, the measurement is a little less fair.
  }
}

/** Opens all; those that can't be opened are given with the reason. */
export async function openAll(
  contestants: readonly Contestant[],
  seconds: number,
): Promise<{ runners: Runner[]; missing: Row[] }> {
  const runners: Runner[] = [];
  const missing: Row[] = [];
  for (const { name, open } of contestants) {
    try {
      runners.push(new Runner(name, await open(), seconds));
    } catch (fault) {
      const reason = fault instanceof Error ? fault.message : String(fault);
      progress(`${name} is left out: ${reason}`);
      missing.push({ contestant: name, mode: "", durability: "", rates: [], missing: `left out: ${reason}` });
    }
  }
  return { runners, missing };
}

/** All subjects in one scenario, in turn in every round, so that a noisy minute hits everybody. */
export async function play(scenario: Scenario, runners: readonly Runner[], rounds: number): Promise<Row[]> {
  const measured = new Map<string, Measured[]>();
  const key = (runner: Runner, mode: Mode, workers: number) => `${runner.name}, ${mode.name}, ${workers} workers`;
  const present = new Set<Runner>();
  for (const runner of runners) {
    progress(`${scenario.name}: ${runner.name} is brought there`);
    await runner.tried(async () => {
      if (await runner.bring(scenario)) present.add(runner);
    });
  }
  const measure = async (runner: Runner, mode: Mode, workers: number) => {
    const figures = await runner.cycles(mode, workers, scenario.ready);
    const name = key(runner, mode, workers);
    measured.set(name, [...(measured.get(name) ?? []), figures]);
    progress(`${name}: ${whole(figures.perSecond)} cycles/s`);
  };
  for (let round = 1; round <= rounds; round += 1)
    for (const workers of WORKERS)
      for (const runner of present)
        for (const mode of runner.modes) await runner.tried(() => measure(runner, mode, workers));
  return runners.flatMap((runner) =>
    runner.modes.map((mode): Row => {
      const row = { contestant: runner.name, mode: mode.name, durability: mode.durability };
      if (runner.fault) return { ...row, rates: [], missing: `failed: ${runner.fault}` };
      if (!present.has(runner)) return { ...row, rates: [], missing: runner.keepsNothing ?? "" };
      return { ...row, ...figuresOf(WORKERS.map((workers) => measured.get(key(runner, mode, workers)) ?? [])) };
    }),
  );
}

/** Medians of the rounds, given by number of workers. */
function figuresOf(rounds: readonly (readonly Measured[])[]): Pick<Row, "rates" | "p50Ms" | "p99Ms"> {
  const rates = rounds.map((measured) => median(measured.map(({ perSecond }) => perSecond)));
  const claims = (rounds[0] ?? []).map(({ claimMs }) => claimMs);
  if (claims.some(({ length }) => length === 0)) return { rates };
  const at = (percent: number) => median(claims.map((values) => percentile(values, percent)));
  return { rates, p50Ms: at(50), p99Ms: at(99) };
}

/** Enqueueing one by one: a row for each durability, as a subject's modes differ in nothing else there. */
export async function playEnqueueing(runners: readonly Runner[], rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runner of runners) {
    const seen = new Set<string>();
    for (const mode of runner.modes) {
      if (seen.has(mode.durability)) continue;
      seen.add(mode.durability);
      const rates: number[] = [];
      await runner.tried(async () => {
        for (const workers of WORKERS) {
          const values: number[] = [];
          for (let round = 1; round <= rounds; round += 1) values.push(await runner.enqueueing(mode, workers));
          rates.push(median(values));
        }
      });
      const row = { contestant: runner.name, mode: "", durability: mode.durability };
      if (runner.fault) rows.push({ ...row, rates: [], missing: `failed: ${runner.fault}` });
      else rows.push({ ...row, rates });
      progress(`${runner.name}, enqueueing, ${mode.durability}: ${rates.map(whole).join(", ")} a second`);
    }
  }
  return rows;
}
