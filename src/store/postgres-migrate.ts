import type { Client, PoolClient } from "pg";
import { DibsError, isDibsError } from "../contract/errors.js";
import { queueTables } from "./migrations/postgres/001-queue.js";
import { dependencies } from "./migrations/postgres/002-dependencies.js";
import { sessionFamilies } from "./migrations/postgres/003-session-families.js";
import { recurrences } from "./migrations/postgres/004-recurrences.js";
import { plans } from "./migrations/postgres/005-plans.js";
import { delegation } from "./migrations/postgres/006-delegation.js";
import { evidence } from "./migrations/postgres/007-evidence.js";
import { scopes } from "./migrations/postgres/008-scopes.js";
import { repositories } from "./migrations/postgres/009-repositories.js";
import { waits } from "./migrations/postgres/010-waits.js";
import { handoffs } from "./migrations/postgres/011-handoffs.js";
import { scopeCapacities } from "./migrations/postgres/012-scope-capacities.js";
import { holds } from "./migrations/postgres/013-holds.js";
import { unlanded } from "./migrations/postgres/014-unlanded.js";
import { whatIsOver } from "./migrations/postgres/015-what-is-over.js";
import { translatePostgresFault } from "./postgres-faults.js";
import { PostgresPool } from "./postgres-pool.js";
import { type Migrated, type SchemaState, schemaTooNew, schemaTooOld } from "./schema.js";

export interface PostgresMigration {
  readonly sql: string;
  /** The oldest schema whose code still works beside this one: nodes are upgraded one after another. */
  readonly worksFor: number;
}

/** In order; a step once released is never changed. */
export const MIGRATIONS: readonly PostgresMigration[] = [
  { sql: queueTables, worksFor: 1 },
  // Code that knows no dependencies would complete a blocker and count it off nowhere: its dependents waited for ever.
  { sql: dependencies, worksFor: 2 },
  // Code that knows no parents gives none, and ends a parent without its children: they end by their own silence then.
  { sql: sessionFamilies, worksFor: 2 },
  { sql: recurrences, worksFor: 2 },
  // Code that knows no plans takes and ends their tasks as any other.
  { sql: plans, worksFor: 2 },
  // Code that knows no delegation takes a delegated task for one that waits, which it is.
  { sql: delegation, worksFor: 2 },
  // Code that knows no verdicts asks for none, and changes a context without keeping how it was: while such nodes are there.
  { sql: evidence, worksFor: 2 },
  // Code that knows no scopes would grant tasks without theirs.
  { sql: scopes, worksFor: 8 },
  // Code that knows no repositories binds none, and has projects as before.
  { sql: repositories, worksFor: 8 },
  // Code that knows no line would grant what is offered to another.
  { sql: waits, worksFor: 10 },
  // Code that knows no handoffs makes none, and a lease that went on so is to it as any other.
  { sql: handoffs, worksFor: 10 },
  // Code that knows no capacities grants one place, and wakes less when it is free.
  { sql: scopeCapacities, worksFor: 10 },
  // Code that knows no holds would grant what is frozen.
  { sql: holds, worksFor: 13 },
  // Code that knows no unlanded work tells nobody of it.
  { sql: unlanded, worksFor: 13 },
  // Code that knows none of it leaves ended work in the index of names, which is slower for others and nothing else.
  { sql: whatIsOver, worksFor: 13 },
];

/** Any number: whoever migrates holds it, so that nodes that start together migrate once. */
export const MIGRATION_LOCK = 0x64696273;
/** The driver gives up on a query after half a minute; a step may take an hour. */
const PATIENT = { query_timeout: 3_600_000 } as const;

type Connection = Pick<Client | PoolClient, "query">;

/** How connections name themselves: with the schema their code was written for, so that whoever migrates sees them. */
export const applicationName = (known = MIGRATIONS.length) => `dibs/${known}`;

export interface MigrateOptions {
  readonly apply?: boolean;
  readonly migrations?: readonly PostgresMigration[];
}

/**
 * Brings the database to this code's schema, once, whoever comes first; refuses one that is too new for this code, and
 * without `apply` one that is too old. Refuses steps that nodes which are connected now could not work with.
 */
export async function migratePostgres(
  client: Connection,
  { apply = true, migrations = MIGRATIONS }: MigrateOptions = {},
): Promise<Migrated> {
  const known = migrations.length;
  const before = await schemaState(client, migrations);
  if (before.version >= known) return { from: before.version, to: before.version };
  if (!apply) throw schemaTooOld(before.version, known);
  // Under another isolation, which a database may have as its default, what others did meanwhile would stay unseen.
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    // An index on a large table takes longer than a call may, and so does waiting for the node that makes it.
    await client.query("SET LOCAL statement_timeout = 0");
    await client.query({ text: `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`, ...PATIENT });
    // Another may have migrated meanwhile, also further than this code can follow.
    const { version } = await schemaState(client, migrations);
    const steps = migrations.slice(version);
    await refuseStepsTooFar(client, version, steps);
    for (const [at, { sql, worksFor }] of steps.entries()) {
      await client.query({ text: sql, ...PATIENT });
      await client.query("CREATE TABLE IF NOT EXISTS dibs_schema (version bigint NOT NULL, works_for bigint NOT NULL)");
      await client.query("DELETE FROM dibs_schema");
      await client.query("INSERT INTO dibs_schema VALUES ($1, $2)", [version + at + 1, worksFor]);
    }
    await client.query("COMMIT");
    return { from: version, to: Math.max(version, known) };
  } catch (fault) {
    await client.query("ROLLBACK").catch(() => {});
    throw fault;
  }
}

/** As `migratePostgres`, on a connection of its own. */
export function migrateDatabase(url: string): Promise<Migrated> {
  return connected(url, (client) => migratePostgres(client));
}

/** The database's version and this code's; changes nothing. */
export function schemaOfDatabase(url: string): Promise<SchemaState> {
  return connected(url, (client) => schemaState(client, MIGRATIONS));
}

async function connected<T>(url: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const pool = new PostgresPool({ url, connectionsMax: 1, applicationName: applicationName() });
  try {
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  } catch (fault) {
    throw isDibsError(fault) ? fault : translatePostgresFault(fault, pool.where);
  } finally {
    await pool.end();
  }
}

/** Refuses a schema that this code can't work with. */
async function schemaState(client: Connection, migrations: readonly PostgresMigration[]): Promise<SchemaState> {
  const { version, works_for } = await schemaOf(client);
  if (version > migrations.length && works_for > migrations.length) throw schemaTooNew(version, migrations.length);
  return { version, known: migrations.length };
}

/** Nodes of the schema before go on working through one step; those that could not are still connected, or gone. */
async function refuseStepsTooFar(
  client: Connection,
  version: number,
  steps: readonly PostgresMigration[],
): Promise<void> {
  const worksFor = Math.max(...steps.map((step) => step.worksFor));
  if (version === 0 || worksFor <= version) return;
  const { rows } = await client.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
     AND substring(application_name FROM '^dibs/([0-9]+)$')::int < $1`,
    [worksFor],
  );
  if (rows[0].n === 0) return;
  throw new DibsError(
    "store_unavailable",
    `The store's schema is version ${version}; version ${version + steps.length} works only for nodes written for version ` +
      `${worksFor} or later, and ${rows[0].n} connections of older nodes are open. Stop those nodes, or first upgrade all ` +
      `of them to a Dibs of schema version ${worksFor}.`,
    {},
  );
}

async function schemaOf(client: Connection): Promise<{ version: number; works_for: number }> {
  const none = { version: 0, works_for: 0 };
  // Read from the catalog's table: to_regclass answers from the connection's memory, which after waiting for another
  // node's migration still said that there is no such table.
  const { rows } = await client.query(
    `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'dibs_schema'
     AND relnamespace = ANY (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ANY (current_schemas(false)))) AS there`,
  );
  if (!rows[0]?.there) return none;
  const schema = await client.query("SELECT version::int, works_for::int FROM dibs_schema");
  return schema.rows[0] ?? none;
}
