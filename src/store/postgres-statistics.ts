/**
 * What the planner believes of tables, put right where it is far from what is there.
 *
 * An ANALYZE that autovacuum starts while one transaction writes ten thousand rows sees none of them, and until the next,
 * a minute later or more, the table counts as empty. Then all indexes with a column anywhere in them seem as good as each
 * other, and reading whole tables better than either: one task was read in 15 s beside 10,000 that waited for it.
 */

/** Smaller tables are quick by any plan. */
const ROWS_MIN = 1_000;
/** Statistics may be behind by so much: plans that are right for a tenth are right. */
const TIMES = 10;

/** By the counters that every commit reports to within a second, or ten from a connection that is idle after it. */
export const TABLES_BELIEVED_SMALL = `SELECT c.oid::regclass::text AS name FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpages > 0 AND c.reltuples >= 0
    AND pg_stat_get_live_tuples(c.oid) > greatest(${ROWS_MIN},
      ${TIMES} * c.reltuples / c.relpages * pg_relation_size(c.oid) / current_setting('block_size')::int)`;

/** Passes over what is being analyzed or vacuumed already. Plans that connections keep are made anew by themselves. */
export const analyze = (tables: readonly string[]): string => `ANALYZE (SKIP_LOCKED) ${tables.join(", ")}`;
