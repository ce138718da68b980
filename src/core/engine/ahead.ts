import type { Identities } from "../identity.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import type { QueueFilter } from "../port/verbs.js";
import type { EngineCall } from "./outcome.js";
import { type ClaimsMade, type QueueHeads, readyLimitFor, tasksWanted } from "./read-ahead.js";

interface Head {
  readonly filter: QueueFilter;
  readonly rows: readonly TaskRow[];
}

/**
 * What the claims of a transaction will need, sent together with its begin where the store takes that: a claim on Postgres
 * is two round trips then, one that begins and reads and one that writes and commits, where it was five. It goes by what is
 * remembered of the callers; who is not remembered, and whatever else is missing here, is asked for in its turn.
 */
export class Ahead {
  #heads: readonly Head[] = [];
  #agents: readonly { readonly ids: readonly string[]; readonly having: readonly string[] }[] = [];
  #live: readonly { agent_id: string; n: number }[] = [];

  constructor(
    private readonly calls: readonly EngineCall[],
    private readonly identities: Identities,
    private readonly heads: QueueHeads,
    /** `beforeMs`: some time before; leases that were dead then are dead. `wait`: for what another node has in hand. */
    private readonly how: { readonly beforeMs: number; readonly wait: boolean },
  ) {}

  async read({ tasks, claims }: Pick<Tx, "tasks" | "claims">): Promise<void> {
    const filters = new Map<string, { filter: QueueFilter; wanted: number }>();
    const agents = new Map<string, Set<string>>();
    for (const call of this.calls) {
      const wanted = tasksWanted(call);
      const filter = wanted > 0 ? this.identities.queueOf(call) : undefined;
      if (!filter) continue;
      const { workspaceId, projectId, agentId, labels } = filter;
      agents.set(workspaceId, (agents.get(workspaceId) ?? new Set()).add(agentId));
      // To tell the rarest of several labels takes answers, and what is read behind the clock is read too late.
      if (labels.length > 1) continue;
      const queue = JSON.stringify([workspaceId, projectId, labels]);
      filters.set(queue, { filter, wanted: wanted + (filters.get(queue)?.wanted ?? 0) });
    }
    if (agents.size === 0) return;
    const all = [...agents.values()].flatMap((ids) => [...ids]);
    const heads = [...filters.values()].map(async ({ filter, wanted }) => ({
      filter,
      rows: await tasks.ready(filter, "", readyLimitFor(wanted), this.how.wait),
    }));
    const assigned = [...agents].map(async ([workspaceId, ids]) => ({
      ids: [...ids],
      having: await tasks.assignees(workspaceId, [...ids]),
    }));
    const live = claims.countLiveOf(all, this.how.beforeMs);
    [this.#heads, this.#agents, this.#live] = await Promise.all([Promise.all(heads), Promise.all(assigned), live]);
  }

  /** Hands over what was read, if it was. */
  teach(claimsMade: ClaimsMade): void {
    for (const { filter, rows } of this.#heads) this.heads.learn(filter, "", rows);
    for (const { ids, having } of this.#agents) {
      this.heads.learnOwners(ids, having);
      claimsMade.learnCounts(ids, this.#live);
    }
  }
}
