import type { Context } from "../context.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { type QueueFilter, READY_LIMITS, type ReadyLimit } from "../port/verbs.js";
import type { EngineCall } from "./outcome.js";

/**
 * The head of the queue, read ahead. Fifty claims that came together read the next fifty tasks in one statement, not in
 * fifty, and what is left serves the next transaction. Whatever else touches the queue spoils it, in this process or
 * another; that a task is ready is no matter of time, so it doesn't age.
 */
export class QueueHeads {
  #limit: ReadyLimit = 1;
  #wait = false;
  #heads = new Map<string, TaskRow[]>();
  /** What was taken through one filter may still stand in what was read for another. */
  #taken = new Set<number>();
  /** Agents to whom no ready task is assigned. */
  #withoutOwn = new Set<string>();

  /**
   * How many tasks are claimed together: so many are worth reading at once, and where nodes share a queue no more. With
   * `wait` nothing is passed over because another node has it in hand.
   */
  expect(calls: readonly EngineCall[], wait: boolean): void {
    this.#wait = wait;
    this.#limit = readyLimitFor(calls.reduce((sum, call) => sum + tasksWanted(call), 0));
  }

  /** What was read of the queue elsewhere, in this transaction. */
  learn(filter: QueueFilter, assignedTo: string, rows: readonly TaskRow[]): void {
    this.#heads.set(keyOf(filter, assignedTo), rows.length === 0 ? NOTHING : [...rows]);
  }

  learnOwners(agentIds: readonly string[], having: readonly string[]): void {
    for (const id of agentIds) if (!having.includes(id)) this.#withoutOwn.add(id);
  }

  spoil(): void {
    this.#withoutOwn.clear();
    if (this.#heads.size === 0) return;
    this.#heads = new Map();
    this.#taken = new Set();
  }

  /** Asks for all who will claim whether anything is assigned to them: mostly nothing is. */
  async learnOwn(tx: Tx, workspaceId: string, agentIds: readonly string[]): Promise<void> {
    const unknown = agentIds.filter((id) => !this.#withoutOwn.has(id));
    if (unknown.length < 2) return;
    this.learnOwners(unknown, await tx.tasks.assignees(workspaceId, unknown));
  }

  /** The best task for the filter, left in place. */
  async first(tx: Tx, filter: QueueFilter): Promise<TaskRow | undefined> {
    return (await this.#best(tx, filter))?.[0];
  }

  /** The best task for the filter; the caller takes it from the queue. */
  async take(tx: Tx, filter: QueueFilter): Promise<TaskRow | undefined> {
    const row = (await this.#best(tx, filter))?.shift();
    if (row) this.#taken.add(row.seq);
    return row;
  }

  async #best(tx: Tx, filter: QueueFilter): Promise<TaskRow[] | undefined> {
    const everybodys = await this.#head(tx, filter, "", this.#limit);
    if (this.#withoutOwn.has(filter.agentId)) return everybodys;
    const own = await this.#head(tx, filter, filter.agentId, 1);
    const [a, b] = [everybodys[0], own[0]];
    if (!a || !b) return b ? own : everybodys;
    return b.priority > a.priority || (b.priority === a.priority && b.seq < a.seq) ? own : everybodys;
  }

  async #head(tx: Tx, filter: QueueFilter, assignedTo: string, limit: ReadyLimit): Promise<TaskRow[]> {
    const key = keyOf(filter, assignedTo);
    let head = this.#heads.get(key);
    while (head?.[0] && this.#taken.has(head[0].seq)) head.shift();
    // An empty rest says nothing of what lies behind it; an empty reading says that there is nothing.
    if (head === undefined || (head.length === 0 && head !== NOTHING)) {
      const rows = await tx.tasks.ready(filter, assignedTo, limit, this.#wait);
      head = rows.length === 0 ? NOTHING : rows;
      if (this.#heads.size >= HEADS_MAX || this.#taken.size >= TAKEN_MAX) this.spoil();
      this.#heads.set(key, head);
    }
    return head;
  }
}

export function readyLimitFor(wanted: number): ReadyLimit {
  return READY_LIMITS.find((limit) => wanted <= limit) ?? 64;
}

/** Tasks the call takes from the head of the queue, if there are so many. */
export function tasksWanted({ name, input }: EngineCall): number {
  return name === "claim_next_task" ? Number(input.count ?? 1) : 0;
}

function keyOf({ workspaceId, projectId, labels, plan }: QueueFilter, assignedTo: string): string {
  return JSON.stringify([workspaceId, projectId, assignedTo, labels, plan]);
}

const NOTHING: TaskRow[] = [];
/** Filters remembered at once; more than this and all are read anew. */
const HEADS_MAX = 10_000;
/** Taken tasks remembered, as long as nothing spoils what was read. */
const TAKEN_MAX = 100_000;

/**
 * An upper bound of each agent's live claims: counted once, then grown by what it is granted. Only an agent near its
 * limit is counted again.
 */
export class ClaimsMade {
  #atMost = new Map<string, number>();

  forget(): void {
    this.#atMost.clear();
  }

  /** Counts for all who will claim. */
  async learn(tx: Tx, agentIds: readonly string[]): Promise<void> {
    const unknown = agentIds.filter((id) => !this.#atMost.has(id));
    if (unknown.length < 2) return;
    this.learnCounts(unknown, await tx.claims.countLiveOf(unknown, tx.nowMs));
  }

  learnCounts(agentIds: readonly string[], live: readonly { agent_id: string; n: number }[]): void {
    for (const id of agentIds) this.#atMost.set(id, 0);
    for (const { agent_id, n } of live) this.#atMost.set(agent_id, n);
  }

  /** The agent's live claims, or more, with `wanted` more on their way; exact when they would reach the limit. */
  async plus(context: Context, agentId: string, wanted: number, limit: number): Promise<number> {
    const known = this.#atMost.get(agentId);
    if (known !== undefined && known + wanted <= limit) {
      this.#atMost.set(agentId, known + wanted);
      return known;
    }
    const live = await context.tx.claims.countLive(agentId, context.nowMs, limit);
    // At the limit counting stopped: what it says holds for this limit alone.
    if (live < limit) this.#atMost.set(agentId, live + wanted);
    else this.#atMost.delete(agentId);
    return live;
  }
}
