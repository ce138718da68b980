import { expect } from "vitest";
import type { Body } from "../support/fresh-store.js";
import { claimSnapshot } from "./names-shown.js";
import type { Session } from "./records.js";
import type { Scopes } from "./scopes.js";
import { same, snapshot } from "./shown.js";

type Beaten = Body<"heartbeat_session">;

/** So many notices are told at once, the newest. */
const TOLD_MAX = 20;

/** A session's heartbeat answers for each thing it holds and for each it lost (R9). */
export function compareBeat(rules: Scopes, session: Session, body: Beaten): void {
  const { renewed, lost } = rules.heartbeatSession(session);
  const tasks = renewed.map((task) => {
    const { fields, lease } = snapshot(rules, task);
    const { lease_expires_at, lease_remaining_ms } = fields;
    const outcome = { scope: null, outcome: "renewed", reason: null, lease_expires_at, lease_remaining_ms };
    return { task_id: task.id, lease_id: lease?.id, ...outcome };
  });
  const names = rules.beatNames(session).map((claim) => {
    const { expires_at, remaining_ms, scope } = claimSnapshot(rules, claim).fields;
    const ends = { lease_expires_at: expires_at, lease_remaining_ms: remaining_ms };
    return { task_id: null, scope, lease_id: claim.id, outcome: "renewed", reason: null, ...ends };
  });
  same(
    body.items.filter((item) => item.outcome === "renewed"),
    [...tasks, ...names],
  );
  const told = body.items.filter((item) => item.outcome === "lost").map((item) => `${item.lease_id} ${item.reason}`);
  const all = [
    ...lost.map(({ grant, reason }) => `${grant.id} ${reason}`),
    ...rules.lostNames(session).map((claim) => `${claim.id} ${claim.ended}`),
  ];
  if (body.notices.length < TOLD_MAX) expect(told.sort()).toEqual(all.sort());
  else expect(all).toEqual(expect.arrayContaining(told));
}

export function acknowledgeNames(rules: Scopes, notices: Beaten["notices"]): void {
  const told = new Set(notices.map(({ data }) => data.claim_id));
  for (const claim of rules.claims) if (told.has(claim.id as string)) claim.lost = false;
}
