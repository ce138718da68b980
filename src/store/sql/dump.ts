import { type DumpVerbs, type StoredRow, TABLES } from "../../core/port/dump-verbs.js";
import { after, type Db } from "./db.js";

/** Values of the first column whose rows are read at once; a text may have a megabyte. */
const AT_ONCE = 200;

export function dumpVerbs(db: Db): DumpVerbs {
  const { columnsOf, recordsOf, byBytes, goOnBehindLast } = db.dialect;
  return {
    columns: (table) => after(db.all<{ name: string }>(columnsOf, table.name), (rows) => rows.map(({ name }) => name)),
    rows({ name, order, parts }, behind) {
      const [first, ...others] = order;
      if (!parts) return db.all<StoredRow>(`SELECT * FROM ${name} ORDER BY ${byBytes(first)}`);
      const some = `SELECT ${first} FROM ${name} WHERE ${first} > ? ORDER BY ${first} LIMIT ${AT_ONCE}`;
      const by = [first, ...others.map((column) => (/(seq|place)$/.test(column) ? column : byBytes(column)))].join(
        ", ",
      );
      const sql = `SELECT * FROM ${name} WHERE ${first} > ? AND ${first} <= (SELECT max(${first}) FROM (${some}) AS part)`;
      return db.all<StoredRow>(`${sql} ORDER BY ${by}`, behind, behind);
    },
    async insert(table, rows) {
      const columns = Object.keys(rows[0] ?? {});
      if (columns.length === 0) return;
      await db.run(
        `INSERT INTO ${table.name} (${columns.join(", ")}) ${recordsOf(table.name, columns)}`,
        JSON.stringify(rows),
      );
      db.kept.clear();
    },
    isUnused: () =>
      after(
        db.get<{ n: number }>(
          "SELECT (SELECT count(*) FROM workspaces) - 1 + (SELECT count(*) FROM agents) + (SELECT count(*) FROM events) AS n",
        ),
        (row) => (row?.n ?? 0) <= 0,
      ),
    async clearUnused() {
      await db.run("DELETE FROM projects");
      await db.run("DELETE FROM workspaces");
    },
    async goOnBehind(lastMs) {
      await db.run("UPDATE clock SET last_ms = ? WHERE last_ms < ?", lastMs, lastMs);
      if (!goOnBehindLast) return;
      for (const { name, order } of TABLES) {
        if (order.length > 1 || (order[0] !== "seq" && name !== "events")) continue;
        await db.get(goOnBehindLast(name, order[0]));
      }
    },
  };
}
