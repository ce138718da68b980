import type { Body } from "../support/fresh-store.js";
import type { Line } from "./line.js";
import type { Task } from "./records.js";
import { bindReservations, isReservation } from "./reservations.js";
import type { PassedOver } from "./scoped-tasks.js";
import { same } from "./shown.js";
import type { Subject } from "./subjects.js";
import type { Ticket } from "./tickets.js";

type Row = Body<"list_waits">[number];

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** What a ticket must look like at an instant; how one for a task ended the rules leave open. */
export function ticketFields(rules: Line, ticket: Ticket): Partial<Row> {
  const waits = rules.inLine(ticket);
  const offered = rules.offered(ticket);
  const how = ticket.ended ?? "task_lost";
  const { wanted, session, task, priority, intent } = ticket;
  const fields: Partial<Row> = {
    state: offered ? "offered" : waits ? "waiting" : how === "granted" ? "granted" : "ended",
    position: waits ? rules.positionOf(ticket) : null,
    scopes: wanted.map(({ name, mode }) => ({ scope: name.text, mode })),
    agent_id: session.agent.id,
    task_id: task?.id ?? null,
    offer_expires_at: offered ? iso(ticket.offeredUntilMs) : null,
    offer_remaining_ms: offered ? (ticket.offeredUntilMs as number) - rules.nowMs : null,
    priority,
    intent,
  };
  if (waits || !task) Object.assign(fields, { ended_how: waits ? null : how });
  return fields;
}

export function compareTicket(ticket: Ticket, fields: Partial<Row>, shown: Row): void {
  ticket.id ??= shown.ticket;
  ticket.session.id ??= shown.session_id;
  const named = Object.keys(fields).map((field) => [field, shown[field as keyof Row]]);
  const ids = { ticket: shown.ticket, session_id: shown.session_id };
  same({ ...Object.fromEntries(named), ...ids }, { ...fields, ticket: ticket.id, session_id: ticket.session.id });
}

/** The answer to who gets into line, or stays there. */
export function inLine({ scene: { rules } }: Subject, ticket: Ticket): (body: Record<string, unknown>) => void {
  const position = rules.positionOf(ticket);
  return (body) => {
    ticket.id ??= String(body.ticket);
    same([body.ticket, body.position, body.claims], [ticket.id, position, []]);
  };
}

/** Everybody who waits, the first first (R35, R36). */
export function compareLine(rules: Line, rows: readonly Row[]): void {
  const line = rules.inOrder().filter((each) => !isReservation(each));
  same(
    rows.map(({ ticket, state, offer_expires_at }) => [ticket, state, offer_expires_at]),
    line.map((each) => [
      each.id,
      rules.offered(each) ? "offered" : "waiting",
      rules.offered(each) ? iso(each.offeredUntilMs) : null,
    ]),
    "the line",
  );
  for (const [at, each] of line.entries()) compareTicket(each, ticketFields(rules, each), rows[at] as Row);
}

type Skipped = NonNullable<Body<"claim_next_task">["skipped"]>[number];

/** What a claim of the next task says that it passed over (R16). */
export function compareSkipped(
  passed: readonly PassedOver[],
  taken: readonly Task[],
  body: Record<string, unknown>,
): void {
  const shown = body.skipped as Skipped[];
  // What was kept for a task that the same call took then is over, and who was behind it may be told of or not.
  const isFor = (each: Ticket) => each.wanted && isReservation(each) && taken.includes(each.task as Task);
  const isOver = ({ inTheWay, frozen }: PassedOver) => !frozen && (inTheWay as readonly Ticket[]).some(isFor);
  const told = passed.filter((each) => !isOver(each) || shown.some(({ id }) => id === each.task.id));
  same([shown.length, body.skipped_count], [Math.min(10, told.length), told.length], "how many were passed over");
  for (const [at, each] of shown.entries()) {
    const { task, frozen, inTheWay } = told[at] as PassedOver;
    same(each.id, task.id, "passed over");
    if (each.code === "frozen") same(frozen, true, "frozen");
    // What is frozen may have been in somebody's way before, who is told of still.
    else if (!frozen && !taken.some(({ id }) => id === each.holder?.task_id)) compareInTheWay(inTheWay, each);
  }
}

/** Of who came at that instant the id isn't known yet. */
function compareInTheWay(inTheWay: PassedOver["inTheWay"], { code, holder }: Skipped): void {
  bindReservations(inTheWay, holder ? [holder] : []);
  const known = inTheWay.map((each) => each.id);
  const isKnown = known.includes(holder?.id ?? "");
  same([code, isKnown || known.includes(null)], ["scope_conflict", true], "who is in the way");
}
