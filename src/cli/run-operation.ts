import { text as textOf } from "node:stream/consumers";
import type { Dibs } from "../client/dibs.js";
import { type Config, readConfig } from "../config.js";
import { EXIT, isDibsError } from "../contract/errors.js";
import type { Answer, Operation } from "../contract/operation.js";
import { operations } from "../contract/operations.js";
import type { CommandRow } from "./commands/commands.js";
import { jsonObject } from "./commands/flags.js";
import { withProjects } from "./commands/projects-named.js";
import { type Connection, connect } from "./connect.js";
import { placeOf } from "./git/place.js";
import { sessionHere } from "./git/session-here.js";
import type { Output } from "./output.js";

/** One call as the command line gave it. */
export interface Asked {
  readonly row: CommandRow;
  readonly operation: Operation;
  readonly input: Readonly<Record<string, unknown>>;
  /** JSON text of further fields, or `-` for stdin. */
  readonly jsonInput: string | undefined;
  readonly session: string | undefined;
  readonly ifVersion: number | undefined;
  readonly idempotencyKey: string | undefined;
  /** Whether what isn't given may come from the git repository around. */
  readonly asksGit: boolean;
}

/** Runs one operation and says what it answered. Gives the exit status; throws what the call throws. */
export async function runOperation(asked: Asked, output: Output): Promise<number> {
  const config = readConfig();
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  const given = asked.jsonInput === undefined ? {} : jsonObject(await textFrom(asked.jsonInput));
  const input = await completed(asked, { ...given, ...asked.input }, output);
  const connection = await connect(config);
  try {
    const { answer, sessionId } = await ask(connection, config, asked, input, interrupt.signal);
    const nothing = isNothing(answer.body);
    if (nothing && interrupt.signal.aborted) return EXIT.interrupted;
    if (nothing) output.say("Nothing to claim.");
    const body = output.json ? answer.body : await withProjects(connection.dibs, asked.row, answer.body);
    const narrowed = Object.keys(input).some((field) => !(field in (asked.row.always ?? {})));
    output.answer(asked.row, { ...answer, body }, { narrowed, sessionId });
    if (nothing) return EXIT.nothing;
    // Whoever goes on after this command must have what it asked for.
    return stillWaits(answer.body) ? EXIT.timedOut : EXIT.ok;
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    await connection.close();
  }
}

/** The input with what the repository around says, where the command takes it from there. */
async function completed({ row, asksGit }: Asked, input: Readonly<Record<string, unknown>>, output: Output) {
  if (row.fromGit === undefined || !asksGit) return input;
  const { withGit } = await import("./git/from-git.js");
  const { input: full, says } = withGit(row.fromGit, input, process.cwd());
  output.say(...says);
  return full;
}

async function textFrom(given: string): Promise<string> {
  return given === "-" ? textOf(process.stdin) : given;
}

async function ask(
  { dibs, project }: Connection,
  config: Config,
  asked: Asked,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<{ answer: Answer<unknown>; sessionId: string | undefined }> {
  const { operation, ifVersion, idempotencyKey } = asked;
  const named = asked.session ?? config.session;
  const own = () => sessionHere(dibs, placeOf(process.cwd()), project);
  const sessionId = named ?? (concernsHolder(operation) ? await own() : undefined);
  const bound = sessionId === undefined ? dibs : dibs.inSession(sessionId);
  const full = await withLease(bound, operation, input);
  const options = { ifVersion, idempotencyKey, signal };
  return { answer: await bound.call(operation.name as keyof typeof operations, full as never, options), sessionId };
}

/** Whether the call is about what a session holds, so that it must come from one. */
function concernsHolder({ name, effect, errors }: Operation): boolean {
  if (OF_HOLDERS.has(name)) return true;
  return effect === "write" && HOLDERS_REFUSALS.some((code) => errors.includes(code));
}

const HOLDERS_REFUSALS = ["lease_lost", "task_claimed"] as const;
/** What is in the way of a session isn't what is in the way of another, and what it has changed is its own. */
const OF_HOLDERS: ReadonlySet<string> = new Set([
  "check_scope",
  "claim_scopes",
  "heartbeat_scopes",
  "release_scopes",
  "declare_unlanded",
] satisfies (keyof typeof operations)[]);

/** A holder's write names the grant it means (R3): the one its session has now, if none was given. */
async function withLease(dibs: Dibs, operation: Operation, input: Readonly<Record<string, unknown>>) {
  const { task_id: taskId, lease_id: leaseId, fence } = input;
  const takesLease = "lease_id" in operation.input.shape;
  if (!takesLease || typeof taskId !== "string" || leaseId !== undefined || fence !== undefined) return input;
  try {
    const task = await dibs.getTask({ task_id: taskId });
    const ours = task.claimed_by_session_id === dibs.sessionId && task.lease_id !== null;
    return ours ? { ...input, lease_id: task.lease_id, fence: task.fence } : input;
  } catch (error) {
    // Whatever is wrong with the task, the call itself says it better.
    if (isDibsError(error)) return input;
    throw error;
  }
}

/** Whether a claim found nothing. */
function isNothing(body: unknown): boolean {
  const { task, tasks } = body as { task?: unknown; tasks?: unknown[] };
  return task === null || tasks?.length === 0;
}

/** Whether somebody who asked for scopes, or for what a ticket is offered, has to wait on. */
function stillWaits(body: unknown): boolean {
  const { ticket, claims } = body as { ticket?: unknown; claims?: unknown[] };
  return typeof ticket === "string" && claims?.length === 0;
}

/** The operation a command means: the named one when a task's id is given. */
export function operationFor(row: CommandRow, hasId: boolean): Operation {
  return operations[hasId && row.named ? row.named : row.operation];
}
