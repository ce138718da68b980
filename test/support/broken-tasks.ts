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
}
/** A row of the log. */
export interface EventLine {
  readonly id: number;
  readonly type: string;
  readonly task_id: string;
  readonly data: string;
}

/** What each event of a task leaves it as. */
const AFTER: Readonly<Record<string, string>> = {
  "task.created": "open",
  "task.claimed": "claimed",
  "task.released": "open",
  "lease.expired": "open",
  "task.retried": "open",
  "task.reopened": "open",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.cancelled": "cancelled",
};

/**
 * What must hold of tasks and their log at any time, in every store, whatever happened to the processes (C55): a task is
 * claimed exactly when it has one holder; each state has its event; fences grow by one. Returns what is broken, one
 * sentence each.
 */
export function brokenTasks(tasks: readonly TaskLine[], events: readonly EventLine[]): string[] {
  const byTask = new Map<string, EventLine[]>();
  for (const event of events) {
    const own = byTask.get(event.task_id);
    if (own) own.push(event);
    else byTask.set(event.task_id, [event]);
  }
  return tasks.flatMap((task) => brokenTask(task, byTask.get(task.id) ?? []));
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
    const { lease_id: lease, fence: given } = JSON.parse(data) as { lease_id?: string; fence?: number };
    if (type === "task.claimed") {
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
