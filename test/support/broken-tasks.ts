/** A task's row, as the store has it. */
export interface TaskLine {
  readonly seq: number;
  readonly id: string;
  readonly status: string;
  readonly queue: number | null;
  readonly fence: number;
  readonly lease_id: string | null;
  readonly holder_session: string | null;
  readonly closed_by: string | null;
  readonly closed_at: number | null;
  readonly attempts: number;
  readonly blockers: number;
  readonly open_blockers: number;
  readonly has_dependents: number;
}
/** A task and one that it waits for. */
export interface EdgeLine {
  readonly task_seq: number;
  readonly blocker_seq: number;
}
/** A row of the log. */
export interface EventLine {
  readonly id: number;
  readonly type: string;
  readonly task_id: string;
  readonly data: string;
}

interface Lease {
  readonly lease_id?: string;
  readonly fence?: number;
}

/** What each event of a task leaves it as. */
const AFTER: Readonly<Record<string, string>> = {
  "task.created": "open",
  "task.claimed": "claimed",
  "task.handed_off": "claimed",
  "task.released": "open",
  "task.delegated": "open",
  "lease.expired": "open",
  "task.retried": "open",
  "task.reopened": "open",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.cancelled": "cancelled",
};

/**
 * What must hold of tasks and their log at any time, in every store, whatever happened to the processes (C55): a task is
 * claimed exactly when it has one holder; each state has its event; fences grow by one; what is counted of dependencies
 * is what there is, and what waits for another is in no queue (R23). Returns what is broken, one sentence each.
 */
export function brokenTasks(
  tasks: readonly TaskLine[],
  events: readonly EventLine[],
  edges: readonly EdgeLine[],
): string[] {
  const byTask = new Map<string, EventLine[]>();
  for (const event of events) {
    const own = byTask.get(event.task_id);
    if (own) own.push(event);
    else byTask.set(event.task_id, [event]);
  }
  return [...tasks.flatMap((task) => brokenTask(task, byTask.get(task.id) ?? [])), ...brokenCounts(tasks, edges)];
}

function brokenCounts(tasks: readonly TaskLine[], edges: readonly EdgeLine[]): string[] {
  const bySeq = new Map(tasks.map((task) => [task.seq, task]));
  const counted = new Map(tasks.map(({ seq }) => [seq, { blockers: 0, open: 0, dependents: 0 }]));
  for (const { task_seq, blocker_seq } of edges) {
    const [own, other] = [counted.get(task_seq), counted.get(blocker_seq)];
    if (!own || !other) return [`an edge from ${task_seq} to ${blocker_seq} ends nowhere`];
    own.blockers += 1;
    if (bySeq.get(blocker_seq)?.status !== "completed") own.open += 1;
    other.dependents += 1;
  }
  return tasks.flatMap((task) => {
    const { blockers, open, dependents } = counted.get(task.seq) as {
      blockers: number;
      open: number;
      dependents: number;
    };
    const broken: string[] = [];
    const say = (what: string) => broken.push(`task ${task.id}: ${what}`);
    if (task.blockers !== blockers) say(`counts ${task.blockers} blockers, and has ${blockers}`);
    if (task.open_blockers !== open) say(`counts ${task.open_blockers} open blockers, and has ${open}`);
    if (dependents > 0 && task.has_dependents !== 1) say(`has ${dependents} dependents and doesn't know of any`);
    if (task.status === "open" && open > 0 !== (task.queue === 3)) say(`waits for ${open} in queue ${task.queue}`);
    return broken;
  });
}

function brokenTask(task: TaskLine, events: readonly EventLine[]): string[] {
  const broken: string[] = [];
  const say = (what: string) => broken.push(`task ${task.id}: ${what}`);
  const held = task.status === "claimed";
  if (held && (task.lease_id === null || task.holder_session === null)) say("claimed by nobody");
  if (held !== (task.queue === 2 && task.status !== "open")) say(`status ${task.status} stands in queue ${task.queue}`);
  if (task.status === "completed" && (task.closed_by === null || task.closed_at === null)) say("completed by nobody");
  let status = "none";
  let fence = 0;
  let live: string | null = null;
  for (const { type, data } of events) {
    const said = JSON.parse(data) as Lease & { to?: Lease };
    const { lease_id: lease, fence: given } = type === "task.handed_off" ? (said.to ?? {}) : said;
    if (type === "task.handed_off") {
      if (said.lease_id !== live) say(`was handed over under ${said.lease_id} while ${live} lived`);
      live = null;
    }
    if (type === "task.claimed" || type === "task.handed_off") {
      if (live !== null) say(`lease ${lease} was granted while ${live} lived`);
      if (given !== fence + 1) say(`fence ${given} came after ${fence}`);
      fence = given ?? fence;
      live = lease ?? null;
    } else if (AFTER[type] !== undefined) {
      if (type === "task.completed" && lease !== live) say(`completed under ${lease} while ${live} lived`);
      live = null;
    }
    status = AFTER[type] ?? status;
  }
  if (status !== task.status) say(`is ${task.status}, but its events say ${status}`);
  if (fence !== task.fence) say(`has fence ${task.fence}, but its events say ${fence}`);
  if (held && live !== task.lease_id) say(`is held under ${task.lease_id}, but its events say ${live}`);
  return broken;
}
