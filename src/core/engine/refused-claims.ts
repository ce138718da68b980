import { type DibsError, isDibsError } from "../../contract/errors.js";
import { projectOf } from "../agents/projects.js";
import type { Context } from "../context.js";
import { record } from "../events.js";
import { sha256 } from "../ids.js";
import { recordNamed } from "./its-project.js";

const MINUTE_MS = 60_000;
/** Subjects of which it is counted how often they were refused; of more the oldest counts are dropped. */
const COUNTED_MAX = 10_000;
/** Holders that an event names. */
const NAMED_MAX = 10;

/** What a refused call wanted: names, a task with those it declares, or what an offer or a ticket is of. */
interface Wanting extends Readonly<Record<string, unknown>> {
  readonly scopes?: unknown;
  readonly task_id?: unknown;
  readonly project_id?: string;
}

type Holder = Readonly<Record<"id" | "scope" | "agent_id" | "agent_name", unknown>>;

/** What a refusal that names holders says of them, and of the names they are in the way of. */
interface InTheWay {
  readonly scopes: readonly string[];
  readonly holders: readonly Holder[];
}

/**
 * Refused claims of names in the log (R51): one event a session, subject and minute, as a loop that asks ten times a second
 * would drown it. The first of a minute is remembered in the store, for every process; those behind it are only counted
 * here, since each write would wake whoever waits at the file. So `count` is the least that there were: each process adds
 * its own to the next event that it writes. To put them together once a minute would not make it right, as what is missing
 * was refused by commands on the bare file, which live for one call.
 */
export class RefusedClaims {
  readonly #unsaid = new Map<string, number>();

  /** Writes the event, if one is due. The refused call itself must have written nothing. */
  async note(context: Context, input: Wanting, refused: DibsError): Promise<void> {
    const between = inTheWay(refused);
    if (!between) return;
    const { tx, nowMs, session, agent } = context;
    const wanted = await about(context, input);
    const task = "id" in wanted ? wanted.id : null;
    const names = input.scopes ?? (task === null ? between.scopes : null);
    const subject = [wanted.project_id, task, names];
    const name = `refused|${session?.id ?? agent.id}|${sha256(JSON.stringify(subject))}`;
    const minute = `${name}|${Math.floor(nowMs / MINUTE_MS)}`;
    if (await tx.notes.remembered(minute, nowMs - MINUTE_MS)) return this.#count(name);
    await tx.notes.remember(minute, "", "", nowMs);
    await record(context, "scope.refused", wanted, {
      code: refused.code,
      scopes: between.scopes.map((scope) => ({ scope })),
      holders: between.holders.slice(0, NAMED_MAX).map(named),
      holders_count: between.holders.length,
      count: 1 + (this.#unsaid.get(name) ?? 0),
    });
    this.#unsaid.delete(name);
  }

  #count(name: string): void {
    const before = this.#unsaid.get(name) ?? 0;
    this.#unsaid.delete(name);
    this.#unsaid.set(name, before + 1);
    const [oldest] = this.#unsaid.keys();
    if (this.#unsaid.size > COUNTED_MAX && oldest !== undefined) this.#unsaid.delete(oldest);
  }
}

/** Of refusals that say somebody else has a name, or comes before the asker; null of others. */
function inTheWay(refused: DibsError): InTheWay | null {
  if (isDibsError(refused, "scope_conflict")) {
    const { conflicts } = refused.details;
    const scopes = conflicts.flatMap(({ requested, also_requested }) => [requested, ...also_requested]);
    return { scopes: [...new Set(scopes)].sort(), holders: conflicts.map(({ holder }) => holder as unknown as Holder) };
  }
  if (isDibsError(refused, "would_deadlock")) {
    const [first] = refused.details.cycle as unknown as readonly { waits_for: string; holder: Holder }[];
    return first ? { scopes: [first.waits_for], holders: [first.holder] } : null;
  }
  return null;
}

async function about(
  context: Context,
  input: Wanting,
): Promise<{ id: string; project_id: string } | { project_id: string }> {
  const named = await recordNamed(context, input);
  const taskId = input.task_id ?? named?.task_id;
  const task = typeof taskId === "string" ? await context.tx.tasks.byId(context.workspaceId, taskId) : undefined;
  return task ?? { project_id: named?.project_id ?? (await projectOf(context, input.project_id)).id };
}

function named({ id, scope, agent_id, agent_name }: Holder): object {
  return { claim_id: id, scope, agent_id, agent_name };
}
