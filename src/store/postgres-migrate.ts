import type { Client, PoolClient } from "pg";
import { DibsError } from "../contract/errors.js";
import { queueTables } from "./migrations/postgres/001-queue.js";

export interface PostgresMigration {
  readonly sql: string;
  /** The oldest schema whose code still works beside this one: nodes are upgraded one after another. */
  readonly worksFor: number;
}

/** In order; a step once released is never changed. Each leaves the code of the step before working. */
const MIGRATIONS: readonly PostgresMigration[] = [{ sql: queueTables, worksFor: 1 }];

/** Any number: whoever migrates holds it, so that nodes that start together migrate once. */
const MIGRATION_LOCK = 0x64696273;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** Brings the database to this code's schema, once, whoever comes first; refuses one that is too new for this code. */
export async function migratePostgres(
  client: Client | PoolClient,
  { apply = true, migrations = MIGRATIONS }: { apply?: boolean; migrations?: readonly PostgresMigration[] } = {},
): Promise<Migrated> {
  const known = migrations.length;
  const before = await schemaOf(client);
  if (before.version >= known) {
    if (before.works_for <= known) return { from: before.version, to: before.version };
    throw new DibsError(
      "store_unavailable",
      `The database's schema is version ${before.version}, for which version ${known} of this Dibs is too old. Update Dibs.`,
      {},
    );
  }
  if (!apply) {
    throw new DibsError(
      "store_unavailable",
      `The database's schema is version ${before.version}, this Dibs needs ${known}; run dibs migrate.`,
      {},
    );
  }
  await client.query("BEGIN");
  try {
    // A step over millions of rows, or over others' long transactions, takes as long as it takes.
    await client.query("SET LOCAL statement_timeout = 0");
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const { version } = await schemaOf(client);
    for (const [at, { sql, worksFor }] of migrations.entries()) {
      if (at < version) continue;
      await client.query(sql);
      await client.query("CREATE TABLE IF NOT EXISTS dibs_schema (version bigint NOT NULL, works_for bigint NOT NULL)");
      await client.query("DELETE FROM dibs_schema");
      await client.query("INSERT INTO dibs_schema VALUES ($1, $2)", [at + 1, worksFor]);
    }
    await client.query("COMMIT");
    return { from: version, to: Math.max(version, known) };
  } catch (fault) {
    await client.query("ROLLBACK").catch(() => {});
    throw fault;
  }
}

async function schemaOf(client: Client | PoolClient): Promise<{ version: number; works_for: number }> {
  const none = { version: 0, works_for: 0 };
  const { rows } = await client.query("SELECT to_regclass('dibs_schema') IS NOT NULL AS there");
  if (!rows[0]?.there) return none;
  const schema = await client.query("SELECT version::int, works_for::int FROM dibs_schema");
  return schema.rows[0] ?? none;
}
