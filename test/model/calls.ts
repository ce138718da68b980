import type { OperationName } from "dibs/contract";
import { heldOne, proofOf, whoOf } from "./callers.js";
import type { Expected } from "./expected.js";
import { type Family, familyOf } from "./families.js";
import { HANDOFF_CALLS } from "./handoff-calls.js";
import { HOLD_CALLS } from "./hold-calls.js";
import { LINE_CALLS } from "./line-calls.js";
import type { Task, Who } from "./records.js";
import { SCOPE_CALLS } from "./scope-calls.js";
import { snapshot } from "./shown.js";
import { type Args, assignee, atMs, type CallKind, given, holding, idsOf, one, type Scene, when } from "./subjects.js";
import { YIELD_CALLS } from "./yield-calls.js";

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

export interface Prepared {
  readonly name: OperationName;
  readonly input: Record<string, unknown>;
  readonly who: Who;
  /** The least role, as the rules say; refused before anything else. */
  readonly role: string;
  readonly family: Family;
  /** An ended session doesn't keep it from being done. */
  readonly sessionless: boolean;
  predict(refusedWith?: string): Expected;
}

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
      const { task, asked } = s.scene.rules.cancel(s.who, s.task, s.proof, s.args.reason);
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
    input: ({ task, args }) => given({ task_id: task.id, force: args.flag, reason: args.reason }),
    predict: (s) => ({ deleted: s.scene.rules.remove(s.who, s.task, s.args.flag === true) }),
  },
  delegate: {
    name: "delegate_task",
    input: (s) =>
      given({
        ...holding(s),
        content: s.title,
        priority: s.args.priority,
        assigned_to_agent_id: assignee(s)?.id,
        depends_on: idsOf(s),
        handoff: s.args.text,
      }),
    predict: (s) => {
      const waitsFor = s.others && [...new Set(s.others)];
      const assignedTo = assignee(s) ?? undefined;
      const part = given({ content: s.title, priority: s.args.priority, assignedTo, waitsFor });
      return { status: 201, ...one(s, s.scene.rules.delegate(s.who, s.task, s.proof, part, s.args.text)) };
    },
  },
  ...HANDOFF_CALLS,
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
    input: (s) => {
      const { parent, resumes, token: resume_token } = s.family;
      const ttl_seconds = resumes || s.args.harness ? undefined : s.args.seconds && Math.max(30, s.args.seconds);
      return given({ ttl_seconds, parent_session_id: parent?.id, harness_id: s.args.harness, resume_token });
    },
    predict: (s) => {
      const { harness, seconds } = s.args;
      const { parent, resumes: session, token } = s.family;
      const ttlSeconds = seconds && !session && !harness ? Math.max(30, seconds) : 900;
      const resumes = session && { session, used: token !== session.tokens.at(-1) };
      const opened = s.scene.rules.openSession(s.who.agent, given({ ttlSeconds, parent, harness, resumes }) as never);
      return { status: opened.resumed ? 200 : 201, opened };
    },
  },
  ...SCOPE_CALLS,
  ...HOLD_CALLS,
  ...LINE_CALLS,
  ...YIELD_CALLS,
} satisfies Record<string, CallKind>;

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
  const holds = scene.rules.freezes.filter(({ id }) => id !== null);
  const hold = holds[(step.args.count ?? 0) % Math.max(1, holds.length)];
  const family = familyOf(scene.rules.sessions, who, step.args);
  const subject = {
    scene,
    who,
    task: task as Task,
    proof,
    args: step.args,
    others,
    hold,
    family,
    title: `task ${scene.calls}`,
  };
  if (step.args.aimed) Object.assign(subject, heldOne(subject));
  if (kind.sense?.(subject) === false) return undefined;
  Object.assign(subject, kind.aims?.(subject));
  const { name, role = "worker", sessionless = false } = kind;
  return {
    name,
    role,
    who: subject.who,
    family,
    sessionless,
    input: kind.input(subject),
    predict: (refusedWith) => kind.predict(subject, refusedWith),
  };
}
