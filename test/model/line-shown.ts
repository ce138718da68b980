import type { Body } from "../support/fresh-store.js";
import type { Line } from "./line.js";
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
  const line = rules.inOrder();
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
