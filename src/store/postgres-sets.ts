import type { Guard } from "./sql/db.js";

/** Columns and guarded values that are whole numbers; all others are texts. */
const NUMBERS = new Set(
  `seq task_seq plan_seq priority queue wakes_at attempts max_attempts version created_at updated_at closed_at not_before due_date
   cancel_requested blockers open_blockers delegated has_dependents fence claimed_at lease_seconds lease_until lapsed tick_at
   requires_verdict context_version nested ended_at scoped parked_by hops passed_since place at now asked_at rank offered_until wait_seq
   answered_at unlanded_seq declared_at expires_at`.split(/\s+/),
);
const typeOf = (name: string) => (NUMBERS.has(name) ? "bigint" : "text");

/** One statement that changes many rows, each to values of its own. With a guard, every row must still be as it says. */
export function updateRows(table: string, columns: readonly string[], guard: Guard | undefined): string {
  const guarded = Object.keys(guard?.values ?? {});
  const fields = [
    "seq bigint",
    ...columns.map((c) => `new_${c} ${typeOf(c)}`),
    ...guarded.map((n) => `is_${n} ${typeOf(n)}`),
  ];
  const demanded = guard ? `AND ${guard.sql.replace(/:(\w+)/g, "d.is_$1")}` : "";
  const update = `UPDATE ${table} AS t SET ${columns.map((c) => `${c} = d.new_${c}`).join(", ")}
    FROM json_to_recordset(?::json) AS d(${fields.join(", ")}) WHERE t.seq = d.seq ${demanded}`;
  return guard ? mustAll(update) : update;
}

/** One statement that inserts many rows, in their order. With a conflict clause, none may be passed over by it. */
export function insertRows(table: string, columns: readonly string[], conflict: string): string {
  const { names, rows } = rowsOf(columns);
  const insert = `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${rows} ORDER BY nth ${conflict}`;
  return conflict === "" ? insert : mustAll(insert);
}

function rowsOf(columns: readonly string[]) {
  const names = columns.join(", ");
  const fields = columns.map((column) => `${column} ${typeOf(column)}`).join(", ");
  return { names, rows: `ROWS FROM (json_to_recordset(?::json) AS (${fields})) WITH ORDINALITY AS r(${names}, nth)` };
}

function mustAll(statement: string): string {
  return `WITH done AS (${statement} RETURNING 1) SELECT dibs_must_be((SELECT count(*) FROM done), ?)`;
}

/**
 * Inserts events under a lock of their workspaces that is taken before they get their ids, and held to the commit: a
 * reader who has seen an id has seen all lower ones of the workspace. Sent last in a transaction, as it serializes the
 * commits of a workspace, which batches share. That the locks are counted makes them come first.
 */
export function insertEvents(columns: readonly string[]): string {
  const lock = `SELECT pg_advisory_xact_lock(hashtextextended(workspace, 1)) FROM (SELECT DISTINCT
    json_array_elements_text(?::json) AS workspace ORDER BY 1) AS workspaces`;
  const { names, rows } = rowsOf(columns);
  return `WITH locks AS MATERIALIZED (${lock}), locked AS MATERIALIZED (SELECT count(*) FROM locks)
    INSERT INTO events (${names}) SELECT ${names} FROM locked, ${rows} ORDER BY nth`;
}
