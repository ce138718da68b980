import type { Body } from "../support/fresh-store.js";
import { asSession } from "./callers.js";
import type { Expected } from "./expected.js";
import { compareTicket, ticketFields } from "./line-shown.js";
import { FLAT, NAMES, spaceOf, type Wanted } from "./names.js";
import { claimSnapshot } from "./names-shown.js";
import type { Who } from "./records.js";
import { isReservation } from "./reservations.js";
import { same } from "./shown.js";
import { allowed, type CallKind, given, type Subject } from "./subjects.js";
import type { Ticket } from "./tickets.js";

const chosen = new WeakMap<Subject, Ticket | null>();

/** The ticket a call speaks of, chosen when it is made; null where there is none yet. */
function ticketBy(s: Subject): Ticket | null {
  const known = s.scene.rules.tickets.filter(({ id }) => id !== null);
  const before = chosen.get(s);
  // The newer ones are more likely to wait.
  const ticket =
    before === undefined ? (known.at(-1 - ((s.args.ticket ?? 0) % Math.max(1, known.length))) ?? null) : before;
  chosen.set(s, ticket);
  return ticket;
}

/** Mostly by who waits, and of what is offered, if anything is. */
function byWaiter(s: Subject): { who?: Who } {
  if (!s.args.flag) return {};
  const { rules } = s.scene;
  const offered = rules.tickets.filter((ticket) => ticket.id !== null && rules.offered(ticket));
  const ticket = offered[(s.args.ticket ?? 0) % Math.max(1, offered.length)];
  if (ticket) chosen.set(s, ticket);
  const waiter = ticketBy(s)?.session;
  return waiter?.id ? { who: asSession(waiter) } : {};
}

const ticketInput = (s: Subject) => ({ ticket: ticketBy(s)?.id ?? "0".repeat(32) });

/** The answer about one ticket. */
function answered(s: Subject, ticket: Ticket): Expected {
  const { rules, names } = s.scene;
  const fields = ticketFields(rules, ticket);
  const behind = rules.inLine(ticket) ? rules.inTheWayOf(ticket) : [];
  const granted = ticket.granted.filter((claim) => rules.lives(claim)).map((claim) => claimSnapshot(rules, claim));
  return {
    also: (body) => {
      const shown = body as unknown as Body<"get_wait">;
      compareTicket(ticket, fields, shown);
      const known = behind.flatMap(({ id }) => id ?? []).sort();
      const ids = shown.behind.map(({ id }) => id).sort();
      same([ids.filter((id) => known.includes(id)), ids.length], [known, behind.length], "who is before it");
      // Of those that it was granted once some may have ended.
      const living = shown.claims.filter(({ remaining_ms }) => remaining_ms > 0);
      same(living.map(({ scope }) => scope).sort(), granted.map(({ claim }) => claim.name.text).sort());
      for (const each of granted) {
        const row = living.find(({ scope }) => scope === each.claim.name.text);
        if (row) names.claim(each, row);
      }
    },
  };
}

/** With a ticket, or refused for want of one. */
function about(s: Subject, act: (ticket: Ticket) => Ticket): Expected {
  const ticket = ticketBy(s);
  if (!ticket || isReservation(ticket)) throw s.scene.rules.noTicket();
  return answered(s, act(ticket));
}

function placeOf({ args }: Subject): Wanted {
  const name = FLAT[(args.own ?? 0) % FLAT.length] as Wanted["name"];
  return { name, mode: "exclusive", space: spaceOf(name, args.project ?? "default") };
}

function frozenBy({ args }: Subject): Omit<Wanted, "mode"> {
  const name = NAMES[(args.own ?? 0) % NAMES.length] as Wanted["name"];
  return { name, space: spaceOf(name, args.project ?? "default") };
}

export const LINE_CALLS = {
  ask: {
    name: "get_wait",
    record: true,
    input: ticketInput,
    predict: (s) => about(s, (ticket) => s.scene.rules.look(ticket)),
  },
  takeOffered: {
    name: "accept_wait",
    record: true,
    aims: byWaiter,
    input: ticketInput,
    predict: (s) => about(s, (ticket) => s.scene.rules.takeOffered(s.who, ticket)),
  },
  leave: {
    name: "cancel_wait",
    record: true,
    aims: byWaiter,
    input: ticketInput,
    predict: (s) => about(s, (ticket) => s.scene.rules.leaveLine(s.who, ticket)),
  },
  overrule: {
    name: "grant_wait",
    record: true,
    role: "coordinator",
    input: (s) => given({ ...ticketInput(s), reason: s.args.reason }),
    predict: (s) => about(s, (ticket) => s.scene.rules.overrule(s.who, ticket, s.args.reason)),
  },
  freeze: {
    name: "place_hold",
    record: true,
    role: "coordinator",
    input: (s) =>
      given({
        scope: frozenBy(s).name.text,
        project_id: s.args.project,
        reason: "because",
        ttl_seconds: s.args.count,
        allow_agent_ids: allowed(s).map(({ id }) => id),
      }),
    predict: (s) => {
      const { project = "default", count = 1 } = s.args;
      return { status: 201, hold: s.scene.rules.place(project, count, frozenBy(s), allowed(s)) };
    },
  },
  places: {
    name: "set_scope_capacity",
    record: true,
    role: "coordinator",
    input: (s) => given({ scope: placeOf(s).name.text, capacity: s.args.count, project_id: s.args.project }),
    predict: (s) => {
      const { taken, free } = s.scene.rules.setPlaces(placeOf(s), s.args.count ?? 1);
      return { also: (body) => same([body.taken, body.free], [taken, free], "places") };
    },
  },
} satisfies Record<string, CallKind>;
