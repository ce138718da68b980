import type { OperationName } from "dibs/contract";
import type { Expected } from "./expected.js";
import type { Family } from "./families.js";
import type { Offer } from "./handoffs.js";
import type { NamesShown } from "./names-shown.js";
import type { Agent, Hold, Proof, Task, Who } from "./records.js";
import type { Claim } from "./scopes.js";
import { snapshot } from "./shown.js";
import type { Asking, Yields } from "./yields.js";

/** What a call's arguments are chosen from, and what they mean. */
export interface Args {
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
  /** Which of the agent's sessions is the parent, or has given the token. */
  readonly parent?: number;
  readonly resume?: number;
  readonly harness?: "h1" | "h2";
  readonly used?: true;
  /** Names of things, by their numbers. */
  /** The names of a claim or ticket of its own, by its number. */
  readonly own?: number;
  readonly names?: readonly { readonly at: number; readonly shared: boolean }[];
  /** Which claims are meant: all, or those of any by their numbers; else those of the names. */
  readonly all?: true;
  readonly claims?: readonly number[];
  /** The names are for the task. */
  readonly forTask?: true;
  readonly wait?: true;
  /** What is said to who asks to yield. */
  readonly answer?: "yield" | "hold" | "narrow";
  /** About a task that somebody holds, by who holds it. */
  readonly aimed?: true;
  /** Which ticket is meant, by its number. */
  readonly ticket?: number;
}

export interface Scene {
  /** Calls so far. */
  calls: number;
  readonly rules: Yields;
  readonly names: NamesShown;
  readonly agents: readonly Agent[];
}

export interface Subject {
  readonly scene: Scene;
  readonly who: Who;
  readonly task: Task;
  readonly proof: Proof;
  readonly args: Args;
  /** Tasks named beside it; undefined where none are. */
  readonly others: Task[] | undefined;
  readonly hold: Hold | undefined;
  readonly family: Family;
  /** The offer that is answered, and whom one is for; chosen before calls of the same instant add to them. */
  readonly offer?: Offer;
  readonly to?: Offer["to"];
  readonly claim?: Claim;
  readonly asking?: Asking;
  /** For a task that is made. */
  readonly title: string;
}
export interface CallKind {
  readonly name: OperationName;
  readonly role?: string;
  /** It needs no task to speak of. */
  readonly record?: true;
  readonly sessionless?: true;
  /** Who calls, and about what, where chance alone would seldom meet the one who may. */
  aims?(subject: Subject): Partial<Pick<Subject, "who" | "task" | "proof" | "offer" | "to" | "claim" | "asking">>;
  /** Whether there is something that it could speak of. */
  sense?(subject: Subject): boolean;
  input(subject: Subject): Record<string, unknown>;
  /** Where the rules leave open whether it is refused: with what it was. */
  predict(subject: Subject, refusedWith?: string): Expected;
}

export const one = ({ scene }: Subject, task: Task): Expected => ({ tasks: [snapshot(scene.rules, task)] });
export const given = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
export const atMs = ({ scene, args }: Subject) =>
  args.inSeconds === undefined ? undefined : scene.rules.nowMs + args.inSeconds * 1000;
/** Whom a hold lets pass: nobody, or one. */
export const allowed = ({ scene, args }: Subject): readonly Agent[] =>
  args.assign === undefined ? [] : scene.agents.slice(args.assign, args.assign + 1);

export const assignee = ({ scene, args }: Subject) =>
  args.assign === undefined ? undefined : (scene.agents[args.assign % (scene.agents.length + 1)] ?? null);
export const when = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
export const idsOf = ({ others }: Subject) => others?.map(({ id }) => id);
export const holding = ({ task, proof }: Subject) => ({ task_id: task.id, ...proof });
