import type { Body } from "../support/fresh-store.js";
import type { Notice, Session } from "./records.js";
import { same } from "./shown.js";
import { leaseEndMs, type Standing } from "./standing.js";

type Row = Body<"get_session">["notices"][number];

/** So many are told at once, the newest, and so many counted. */
const TOLD_MAX = 20;
const COUNTED_MAX = 100;

/** What a session is told (R54); those of its notices that were shown. */
export function compareNotices(rules: Standing, session: Session, rows: readonly Row[]): Notice[] {
  const left = [...expiring(rules, session), ...rules.told(session)].reverse();
  const all = left.map(keyOf);
  same(rows.length, Math.min(TOLD_MAX, left.length), `notices ${JSON.stringify([rows, all])}`);
  return rows.map((row) => {
    const known = left.find(({ id }) => id === row.id);
    const meant = known ?? left.find((each) => each.id === null && isMeant(each, row));
    if (!meant || !isMeant(meant, row)) throw new Error(`Told ${JSON.stringify(row)}, not one of ${all.join()}`);
    left.splice(left.indexOf(meant), 1);
    meant.id = row.id;
    return meant;
  });
}

/** How many it is told of, whatever it asks. */
export function compareNoticeCount(rules: Standing, session: Session | null, count: number | undefined): void {
  if (session && session.state !== "open") return;
  const told = session ? rules.told(session) : [];
  same(count, Math.min(COUNTED_MAX, told.length), `the number of ${told.map(keyOf).join()}`);
}

/** Said of what ends soon, as long as it does; the rules speak of sessions that are named. */
function expiring(rules: Standing, session: Session): Notice[] {
  if (session.ttlMs === null) return [];
  return rules.expiring(session).map((grant) => ({
    id: grant.id,
    type: "lease.expiring",
    task: rules.tasks.find(({ live }) => live === grant) ?? null,
    about: () => ({ lease_id: grant.id, expires_at: new Date(leaseEndMs(grant)).toISOString() }),
  }));
}

function isMeant({ type, task, about }: Notice, row: Row): boolean {
  if (row.type !== type || (task?.id !== null && row.task_id !== (task?.id ?? null))) return false;
  // What came and went within one instant has no id that anybody knows.
  return Object.entries(about()).every(([field, value]) => value === null || (row.data[field] ?? null) === value);
}

const keyOf = ({ type, about }: Notice) => `${type} ${JSON.stringify(about())}`;
