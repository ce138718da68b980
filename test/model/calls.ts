import type { OperationName } from "dibs/contract";
import type { Agent, Proof, Session, Task, Who } from "./records.js";
import type { Rules } from "./rules.js";
import { type Snapshot, snapshot } from "./shown.js";

/** One call as data; who and what it is about are chosen by number among those there are when it runs. */
export interface CallStep {
  readonly do: keyof typeof CALLS;
  readonly agent: number;
  /** 0: no session is named; else one of the agent's sessions. */
  readonly seat: number;
  readonly task: number;
  readonly proof: "none" | "lease" | "fence" | "older" | "foreign" | "wrong fence";
  readonly args: Args;
}

interface Args {
  readonly seconds?: number;
  readonly count?: number;
  readonly labels?: string[];
  readonly project?: "default" | "other";
  readonly priority?: number;
  readonly assign?: number;
  readonly inSeconds?: number;
  readonly max?: number;
  readonly reason?: string;
  readonly flag?: boolean;
  /** Other tasks, chosen by number as the task itself. */
  readonly others?: number[];
  readonly text?: string;
  readonly state?: "working" | "waiting_input" | "errored";
}

/** What an answer must be. */
export interface Expected {
  readonly status?: number;
  readonly tasks?: Snapshot[];
  readonly many?: boolean;
  readonly none?: true;
  readonly opened?: Session;
  readonly deleted?: Task;
}

export interface Scene {
  /** Calls so far. */
  calls: number;
  readonly rules: Rules;
  readonly agents: readonly Agent[];
}

export interface Prepared {
  readonly name: OperationName;
  readonly input: Record<string, unknown>;
  readonly who: Who;
  /** The least role, as the rules say; refused before anything else. */
  readonly role: string;
  /** An ended session doesn't keep it from being done. */
  readonly sessionless: boolean;
  predict(): Expected;
}

interface Subject {
  readonly scene: Scene;
  readonly who: Who;
  readonly task: Task;
  readonly proof: Proof;
  readonly args: Args;
  /** Tasks named beside it; undefined where none are. */
  readonly others: Task[] | undefined;
  /** For a task that is made. */
  readonly title: string;
}
interface CallKind {
  readonly name: OperationName;
  readonly role?: string;
  /** It needs no task to speak of. */
  readonly record?: true;
  readonly sessionless?: true;
  input(subject: Subject): Record<string, unknown>;
  predict(subject: Subject): Expected;
}

const one = ({ scene }: Subject, task: Task): Expected => ({ tasks: [snapshot(scene.rules, task)] });
export const given = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
const atMs = ({ scene, args }: Subject) =>
  args.inSeconds === undefined ? undefined : scene.rules.nowMs + args.inSeconds * 1000;
const assignee = ({ scene, args }: Subject) =>
  args.assign === undefined ? undefined : (scene.agents[args.assign % (scene.agents.length + 1)] ?? null);
const when = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
const idsOf = ({ others }: Subject) => others?.map(({ id }) => id);
const holding = ({ task, proof }: Subject) => ({ task_id: task.id, ...proof });

export const CALLS = {
  create: {
    name: "create_task",
    record: true,
    input: (s) =>
      given({
        content: s.title,
        priority: s.args.priority,
        labels: s.args.labels,
        project_id: s.args.project,
        assigned_to_agent_id: assignee(s)?.id,
        not_before: when(atMs(s)),
        max_attempts: s.args.max,
        depends_on: idsOf(s),
      }),
    predict: (s) => {
      const { priority, labels, project, max: maxAttempts } = s.args;
      const assignedTo = assignee(s) ?? undefined;
      const waitsFor = s.others && [...new Set(s.others)];
      const input = given({
        content: s.title,
        priority,
        labels,
        project,
        assignedTo,
        notBeforeMs: atMs(s),
        maxAttempts,
        waitsFor,
      });
      return { status: 201, ...one(s, s.scene.rules.create(s.who, input)) };
    },
  },
  next: {
    name: "claim_next_task",
    record: true,
    input: ({ args }) =>
      given({ labels: args.labels, project_id: args.project, lease_seconds: args.seconds, count: args.count }),
    predict: ({ scene, who, args }) => {
      const { labels, project, seconds, count } = args;
      const taken = scene.rules.claimNext(who, { labels, project, seconds, count } as never);
      const tasks = taken.map((task) => snapshot(scene.rules, task));
      return taken.length === 0 && count === undefined ? { none: true } : { tasks, many: count !== undefined };
    },
  },
  claim: {
    name: "claim_task",
    input: ({ task, args }) =>
      given({ task_id: task.id, lease_seconds: args.seconds, takeover: args.flag, reason: args.reason }),
    predict: (s) => {
      const { seconds, flag: takeover, reason } = s.args;
      return one(s, s.scene.rules.claim(s.who, s.task, given({ seconds, takeover, reason })));
    },
  },
  heartbeat: {
    name: "heartbeat_task",
    input: (s) =>
      given({
        ...holding(s),
        lease_seconds: s.args.seconds,
        state: s.args.state,
        detail: s.args.text,
        progress: s.args.count,
        checkpoint: s.args.labels,
      }),
    predict: (s) => {
      const { seconds, state, text: detail, count: progress, labels: checkpoint } = s.args;
      const said = given({ seconds, state, detail, progress, checkpoint });
      return one(s, s.scene.rules.heartbeat(s.who, s.task, s.proof, said));
    },
  },
  state: {
    name: "set_task_state",
    input: (s) => given({ ...holding(s), state: s.args.state ?? "working", detail: s.args.text }),
    predict: (s) => {
      const said = { state: s.args.state ?? "working", ...given({ detail: s.args.text }) };
      return one(s, s.scene.rules.state(s.who, s.task, s.proof, said));
    },
  },
  release: {
    name: "release_task",
    input: (s) => given({ ...holding(s), handoff: s.args.text }),
    predict: (s) => one(s, s.scene.rules.release(s.who, s.task, s.proof, s.args.text)),
  },
  complete: {
    name: "complete_task",
    input: (s) => given({ ...holding(s), result: s.args.text }),
    predict: (s) => one(s, s.scene.rules.complete(s.who, s.task, s.proof, s.args.text)),
  },
  fail: {
    name: "fail_task",
    input: (s) => given({ ...holding(s), reason: s.args.reason, retry: s.args.flag }),
    predict: (s) => {
      const input = given({ reason: s.args.reason, retry: s.args.flag });
      return one(s, s.scene.rules.fail(s.who, s.task, s.proof, input));
    },
  },
  cancel: {
    name: "cancel_task",
    input: (s) => given({ ...holding(s), reason: s.args.reason }),
    predict: (s) => {
      const { task, asked } = s.scene.rules.cancel(s.who, s.task, s.proof);
      return { status: asked ? 202 : 200, ...one(s, task) };
    },
  },
  reopen: {
    name: "reopen_task",
    input: ({ task, args }) => given({ task_id: task.id, reason: args.reason }),
    predict: (s) => one(s, s.scene.rules.reopen(s.who, s.task)),
  },
  retry: {
    name: "retry_task",
    role: "coordinator",
    input: ({ task, args }) => given({ task_id: task.id, reason: args.reason }),
    predict: (s) => one(s, s.scene.rules.retry(s.task, s.args.reason)),
  },
  force: {
    name: "force_release_task",
    role: "coordinator",
    input: ({ task, args }) => given({ task_id: task.id, reason: args.reason }),
    predict: (s) => one(s, s.scene.rules.forceRelease(s.who, s.task, s.args.reason)),
  },
  update: {
    name: "update_task",
    input: (s) =>
      given({
        task_id: s.task.id,
        priority: s.args.priority,
        labels: s.args.labels,
        project_id: s.args.project,
        assigned_to_agent_id: assignee(s) === null ? null : assignee(s)?.id,
        not_before: s.args.flag ? null : when(atMs(s)),
        max_attempts: s.args.max,
        depends_on: idsOf(s),
      }),
    predict: (s) => {
      const { priority, labels, project, max: maxAttempts } = s.args;
      const notBeforeMs = s.args.flag ? null : atMs(s);
      const waitsFor = s.others && [...new Set(s.others)];
      const change = given({ priority, labels, project, assignedTo: assignee(s), notBeforeMs, maxAttempts, waitsFor });
      return one(s, s.scene.rules.update(s.who, s.task, change));
    },
  },
  remove: {
    name: "delete_task",
    input: ({ task, args }) => given({ task_id: task.id, force: args.flag }),
    predict: (s) => ({ deleted: s.scene.rules.remove(s.who, s.task, s.args.flag === true) }),
  },
  depend: {
    name: "add_dependencies",
    input: (s) => ({ task_id: s.task.id, depends_on: idsOf(s) ?? [s.task.id] }),
    predict: (s) => one(s, s.scene.rules.waitFor(s.who, s.task, s.others ?? [s.task])),
  },
  undepend: {
    name: "remove_dependency",
    input: (s) => ({ task_id: s.task.id, blocker_id: idsOf(s)?.[0] ?? s.task.id }),
    predict: (s) => one(s, s.scene.rules.waitNoMore(s.who, s.task, s.others?.[0] ?? s.task)),
  },
  open: {
    name: "open_session",
    record: true,
    sessionless: true,
    input: ({ args }) => given({ ttl_seconds: args.seconds && Math.max(30, args.seconds) }),
    predict: ({ scene, who, args }) => {
      const opened = scene.rules.openSession(who.agent, args.seconds ? Math.max(30, args.seconds) : 900);
      return { status: 201, opened };
    },
  },
} satisfies Record<string, CallKind>;

/** Whose lease a holder's write speaks of. */
function proofOf(task: Task, kind: CallStep["proof"]): Proof {
  const last = task.grants.at(-1);
  const older = task.grants.at(-2);
  if (kind === "lease" && last?.id) return { lease_id: last.id };
  if (kind === "fence" && last?.id) return { lease_id: last.id, fence: last.fence };
  if (kind === "older" && older?.id) return { lease_id: older.id };
  if (kind === "wrong fence") return { fence: (last?.fence ?? 0) + 1 };
  return kind === "foreign" ? { lease_id: "0".repeat(32) } : {};
}

export function whoOf(scene: Scene, step: { agent: number; seat: number }): Who {
  const agent = scene.agents[step.agent % scene.agents.length] as Agent;
  const own = scene.rules.sessions.filter((session) => session.agent === agent && session.ttlMs !== null && session.id);
  return { agent, session: step.seat === 0 || own.length === 0 ? null : (own[step.seat % own.length] as Session) };
}

/** The call a step means now; undefined where there is nothing it could speak of. */
export function prepare(scene: Scene, step: CallStep): Prepared | undefined {
  const kind: CallKind = CALLS[step.do];
  const known = scene.rules.tasks.filter((task) => task.id !== null);
  const task = known[step.task % Math.max(1, known.length)];
  if (!task && !kind.record) return undefined;
  const who = whoOf(scene, step);
  const proof = task ? proofOf(task, step.proof) : {};
  scene.calls += 1;
  const chosen = step.args.others?.flatMap((nth) => known[nth % Math.max(1, known.length)] ?? []);
  const others = chosen?.length ? chosen : undefined;
  const subject = { scene, who, task: task as Task, proof, args: step.args, others, title: `task ${scene.calls}` };
  const { name, role = "worker", sessionless = false } = kind;
  return { name, role, who, sessionless, input: kind.input(subject), predict: () => kind.predict(subject) };
}
