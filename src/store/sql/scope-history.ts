import type { Near, ScopeClaimRow, ScopeVerbs } from "../../core/port/scope-rows.js";
import type { SqlValue } from "../driver.js";
import { after, type Db } from "./db.js";
import { HELD } from "./held-scopes.js";

/** So many of the newest claims are looked at first: the last page of a busy folder is mostly among them. */
const NEWEST = 2_000;
/** So many names of a folder are looked up one by one: each costs 20 µs on SQLite and 80 on Postgres, whatever it has. */
const NAMES = 1_000;

/** What was held. Ended claims stay for ever: all there were of a folder, a name or a session are read only where nothing else helps. */
export function history(db: Db): Pick<ScopeVerbs, "past" | "lastEnded"> {
  const past = waysToPast(db);
  return {
    async past(namespace, near, { limit, after: behind }) {
      const asked = { namespace, near, limit, before: behind?.[0] ?? Number.MAX_SAFE_INTEGER };
      const newest = await past.amongNewest(asked);
      if (newest.length === limit) return newest;
      const names = await past.namesUnder(asked);
      return names.length > NAMES ? past.amongAll(asked) : past.ofEach(asked, names);
    },
    lastEnded: (sessionId, namespace, key) =>
      db.get<ScopeClaimRow>(
        `${HELD} WHERE c.holder_session = ? AND c.namespace = ? AND c.key = ? AND c.ended_at IS NOT NULL
         ORDER BY c.seq DESC LIMIT 1`,
        sessionId,
        namespace,
        key,
      ),
  };
}

interface Asked {
  readonly namespace: string;
  readonly near: Near;
  readonly limit: number;
  readonly before: number;
}

function waysToPast(db: Db) {
  const { textsOf, perRow } = db.dialect;
  // Cut before the rows are read: Postgres took the sum of what it expected, and read the whole table for it.
  const last = (seqs: string, limit: number, ...params: SqlValue[]) =>
    db.all<ScopeClaimRow>(
      `${HELD} WHERE c.seq IN (SELECT seq FROM (${seqs}) AS found ORDER BY seq DESC LIMIT ${limit}) ORDER BY c.seq DESC`,
      ...params,
    );
  return {
    amongNewest: ({ namespace, near: { at, from, below }, limit, before }: Asked) =>
      last(
        `SELECT q.seq FROM (SELECT seq, namespace, index_key FROM scope_claims WHERE seq < ? ORDER BY seq DESC LIMIT ${NEWEST}) AS q
         WHERE q.namespace = ? AND (q.index_key IN (${textsOf}) OR (q.index_key >= ? AND q.index_key < ?))`,
        limit,
        ...[before, namespace, JSON.stringify(at), from, below],
      ),
    /** The keys of the index in the range, each found behind the one before it; one too many where there are more. */
    namesUnder({ namespace, near: { from, below } }: Asked) {
      const next = `SELECT min(q.index_key) FROM scope_claims q WHERE q.namespace = ? AND q.index_key < ? AND q.index_key`;
      const rows = db.all<{ key: string }>(
        `WITH RECURSIVE under(key, nth) AS (SELECT (${next} >= ?), 1
           UNION ALL SELECT (${next} > under.key), nth + 1 FROM under WHERE under.key IS NOT NULL AND nth <= ${NAMES})
         SELECT key FROM under WHERE key IS NOT NULL`,
        ...[namespace, below, from, namespace, below],
      );
      return after(rows, (keys) => keys.map(({ key }) => key));
    },
    /**
     * Of each name its newest, merged: whatever is among the first so many of all stands at one of the so many names that
     * were claimed last, and not before the last claim of any of these. Sorted from all there were, a folder's history of
     * 300,000 claims took 300 ms on SQLite and 700 on Postgres.
     */
    ofEach({ namespace, near: { at }, limit, before }: Asked, names: readonly string[]) {
      const newest = `q.namespace = ? AND q.index_key = k.key AND q.seq < ? AND q.seq >= coalesce((SELECT q.seq
        FROM scope_claims q WHERE q.namespace = ? AND q.index_key = k.key AND q.seq < ? AND q.seq >= least.seq
        ORDER BY q.seq DESC LIMIT 1 OFFSET ${limit - 1}), least.seq)`;
      const ofKey = "FROM scope_claims q WHERE q.namespace = ? AND q.index_key = k.text AND q.seq < ?";
      return last(
        `WITH each AS (SELECT k.text AS key, (SELECT max(q.seq) ${ofKey}) AS seq FROM (${textsOf}) AS k),
           k AS MATERIALIZED (SELECT key, seq FROM each WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT ${limit}),
           least AS MATERIALIZED (SELECT CASE WHEN count(*) = ${limit} THEN min(seq) ELSE 0 END AS seq FROM k)
         SELECT q.seq FROM least CROSS JOIN k ${perRow("scope_claims", "q", newest)}`,
        limit,
        ...[namespace, before, JSON.stringify([...new Set([...at, ...names])])],
        ...[namespace, before, namespace, before],
      );
    },
    amongAll({ namespace, near: { at, from, below }, limit, before }: Asked) {
      const found = (which: string) =>
        `SELECT seq FROM (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.seq < ? AND ${which}
           ORDER BY q.seq DESC LIMIT ${limit}) AS found`;
      return last(
        `${found(`q.index_key IN (${textsOf})`)} UNION ${found("q.index_key >= ? AND q.index_key < ?")}`,
        limit,
        ...[namespace, before, JSON.stringify(at), namespace, before, from, below],
      );
    },
  };
}
