import type { Near } from "../../core/port/scope-rows.js";
import type { SqlValue } from "../driver.js";
import type { Dialect } from "./db.js";

/** Where names are looked for: a table with `namespace` and `index_key`, and what of its rows (`q`) is asked for. */
interface NameIndex {
  readonly table: string;
  readonly columns: readonly string[];
  /** What must also hold of a row, beside its name. */
  readonly also?: string;
}

export interface NearQuery {
  readonly sql: string;
  /** What is bound to it, in order. */
  readonly params: readonly SqlValue[];
}

/** A query of what an index of names has near any of the names of a namespace, each row once. */
export function nearAny(dialect: Dialect, index: NameIndex, namespace: string, all: readonly Near[]): NearQuery {
  const [only] = all;
  return only && all.length === 1 ? nearOne(dialect, index, namespace, only) : nearMany(dialect, index, namespace, all);
}

/** Of one name: at keys above it, or in the range under it. As two queries, since `OR` keeps Postgres from the index. */
export function nearOne(
  { textsOf }: Dialect,
  index: NameIndex,
  namespace: string,
  { at, from, below }: Near,
): NearQuery {
  const found = select(index);
  return {
    sql: `${found} AND q.index_key IN (${textsOf}) UNION ${found} AND q.index_key >= ? AND q.index_key < ?`,
    params: [namespace, JSON.stringify(at), namespace, from, below],
  };
}

/**
 * Of several, in one statement: a thousand names asked for one by one were 7 s of a transaction on Postgres. Materialized, or
 * the JSON is read again for each pair.
 */
function nearMany(
  { textsOf, field, perRow }: Dialect,
  index: NameIndex,
  namespace: string,
  all: readonly Near[],
): NearQuery {
  const ranges = all.map(({ from, below }) => ({ from, below }));
  const at = [...new Set(all.flatMap((near) => near.at))];
  const within = `q.namespace = ? ${alsoOf(index)} AND q.index_key >= k.low AND q.index_key < k.high`;
  return {
    sql: `WITH k AS MATERIALIZED (SELECT ${field("t.text", "from")} AS low, ${field("t.text", "below")} AS high
        FROM (${textsOf}) t)
      ${select(index)} AND q.index_key IN (${textsOf})
      UNION SELECT ${columnsOf(index)} FROM k ${perRow(index.table, "q", within)}`,
    params: [JSON.stringify(ranges), namespace, JSON.stringify(at), namespace],
  };
}

const columnsOf = ({ columns }: NameIndex) => columns.map((column) => `q.${column}`).join(", ");
const alsoOf = ({ also }: NameIndex) => (also === undefined ? "" : `AND ${also}`);
const select = (index: NameIndex) =>
  `SELECT ${columnsOf(index)} FROM ${index.table} q WHERE q.namespace = ? ${alsoOf(index)}`;
