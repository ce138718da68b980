import { readFileSync } from "node:fs";
import { open, operations } from "dibs";
import { caller, createTasks } from "../cycles.js";
import { loops, type Meter } from "./meter.js";
import { type Contestant, payload } from "./subject.js";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));

/** What a claim gives that its completion needs. */
interface Claimed {
  readonly id: string;
  readonly lease_id?: string | null;
}

interface Place {
  readonly name: string;
  readonly durability: string;
  readonly url: () => Promise<string> | string;
  readonly settle?: () => Promise<void>;
}

/** Dibs embedded, its engine in a thread of its own, on whatever store the URL names. */
export function dibs({ name, durability, url, settle }: Place): Contestant {
  return {
    name: `Dibs ${version} on ${name}`,
    async open() {
      const store = await open({ store: await url(), thread: true });
      const claim = async (worker: number): Promise<Claimed | undefined> =>
        (await store.call(operations.claim_next_task, {}, caller(`worker-${worker}`))).body.task ?? undefined;
      const complete = ({ id, lease_id }: Claimed, worker: number) => {
        const done = { task_id: id, lease_id: lease_id ?? undefined, result: { ok: true } };
        return store.call(operations.complete_task, done, caller(`worker-${worker}`));
      };
      const run = (workers: number, meter: Meter) => loops(workers, meter, claim, complete);
      return {
        modes: [{ name: "claim one, complete one", durability, run }],
        seed: (count) => createTasks(store, count),
        enqueueOne: () => store.call(operations.create_task, payload(1), caller("planner")),
        ...(settle ? { settle } : {}),
        close: () => store.close(),
      };
    },
  };
}
