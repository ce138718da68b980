import type { Near } from "../../core/port/scope-rows.js";
import type { SqlValue } from "../driver.js";
import type { Dialect } from "./db.js";

/**
 * A query of `column` of what an index of names has near any of several names, in one statement: a thousand names asked
 * for one by one were 7 s of a transaction on Postgres. Materialized, or the JSON is read again for each pair.
 */
export function nearAnyOf({ textsOf, field, perRow }: Dialect, column: string, table: string, also = ""): string {
  const within = `q.namespace = ? ${also} AND q.index_key >= k.low AND q.index_key < k.high`;
  return `WITH k AS MATERIALIZED (SELECT ${field("t.text", "from")} AS low, ${field("t.text", "below")} AS high
      FROM (${textsOf}) t)
    SELECT q.${column} FROM ${table} q WHERE q.namespace = ? ${also} AND q.index_key IN (${textsOf})
    UNION SELECT q.${column} FROM k ${perRow(table, "q", within)}`;
}

/** What is bound to it, in order. */
export function nearAny(namespace: string, all: readonly Near[]): SqlValue[] {
  const ranges = all.map(({ from, below }) => ({ from, below }));
  const at = [...new Set(all.flatMap((near) => near.at))];
  return [JSON.stringify(ranges), namespace, JSON.stringify(at), namespace];
}
