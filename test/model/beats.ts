import type { Body } from "../support/fresh-store.js";
import { isSameName } from "./names.js";
import { claimSnapshot } from "./names-shown.js";
import { compareNotices } from "./notices-shown.js";
import type { Notice, Session } from "./records.js";
import type { Scopes } from "./scopes.js";
import { same, snapshot } from "./shown.js";

type Beaten = Body<"heartbeat_session">;

/** A session's heartbeat answers for each thing it holds and for each it lost (R9). */
export function compareBeat(rules: Scopes, session: Session, body: Beaten): void {
  const tasks = rules.heartbeatSession(session).map((task) => {
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
  const items = body.items.filter((item) => item.outcome === "lost").map((item) => `${item.lease_id} ${item.reason}`);
  const lost = compareNotices(rules, session, body.notices).filter((each) => !holdsAgain(rules, session, each));
  const ofLost = lost.map((each) => each.about()).map((each) => `${each.lease_id ?? each.claim_id} ${each.reason}`);
  same(items.sort(), ofLost.sort(), "what was lost");
}

function holdsAgain(rules: Scopes, session: Session, { type, task, name }: Notice): boolean {
  if (type !== "lease.lost") return true;
  if (task) return task.live?.session === session;
  const own = rules.claims.filter((claim) => claim.session === session && !claim.task && rules.lives(claim));
  return own.some((claim) => name !== undefined && isSameName(claim, name));
}
