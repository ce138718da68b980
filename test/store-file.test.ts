import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDibsError } from "../src/contract/errors.js";
import type { Store } from "../src/core/port/store.js";
import { openDriver, type SqliteDriver } from "../src/store/driver.js";
import { migrate } from "../src/store/migrate.js";
import { queueTables } from "../src/store/migrations/sqlite/001-queue.js";
import { openStore } from "../src/store/open.js";
import { openSqlite } from "../src/store/sqlite.js";
import { refuseNetworkFileSystem, translateSqliteFault } from "../src/store/sqlite-faults.js";
import { FreshStore } from "./support/fresh-store.js";
import { QUICK_DISK } from "./support/quick-disk.js";

/** Field reports here: C53 (garbage, read-only, network; what pages and exits say of it is others'), C51 (the file side). */

function folder(): string {
  const path = mkdtempSync(join(QUICK_DISK, "dibs-file-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The refusal to open or use a store; anything else than one of ours is a failure. */
async function refusal(attempt: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await attempt();
  } catch (thrown) {
    if (isDibsError(thrown)) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error("It was to be refused.");
}

const read = (store: Store) => store.transaction("read", async (tx) => tx.workspaces.byName("default"));

describe("the schema (R56)", () => {
  test("is made once, by whoever comes first, and an older one is brought forward with what is in it", async () => {
    const path = join(folder(), "dibs.db");
    const old = openDriver(path);
    migrate(old, [queueTables]);
    old.exec(`INSERT INTO workspaces (id, name, settings, created_at) VALUES ('w', 'kept', '{}', 1);
      INSERT INTO projects (id, workspace_id, key, name, case_insensitive, created_at) VALUES ('p', 'w', 'p', 'p', 0, 1);
      INSERT INTO tasks (id, workspace_id, project_id, priority, status, queue, assigned_to, created_by, max_attempts,
        created_at, updated_at) VALUES ('t', 'w', 'p', 2, 'open', 1, '', 'a', 5, 1, 1);
      INSERT INTO task_texts (seq, content, labels) VALUES (1, 'a task from before', '[]')`);
    old.close();
    const store = openSqlite({ path });
    const found = await store.transaction("write", async (tx) => tx.workspaces.byName("kept"));
    expect(found).toMatchObject({ id: "w" });
    const task = await store.transaction("read", async (tx) => tx.tasks.byId("w", "t"));
    expect(task).toMatchObject({ content: "a task from before", blockers: 0, open_blockers: 0, has_dependents: 0 });
    await store.close();
    const again = openSqlite({ path });
    expect(await again.transaction("read", async (tx) => tx.workspaces.byName("kept"))).toMatchObject({ id: "w" });
    await again.close();
  });

  test("of a newer Dibs is refused with what to do, and left alone", async () => {
    const path = join(folder(), "dibs.db");
    await openSqlite({ path }).close();
    const newer = openDriver(path);
    newer.exec("PRAGMA user_version = 99; CREATE TABLE of_the_future (x)");
    newer.close();
    const refused = await refusal(() => openSqlite({ path }));
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toMatch(/version 99.*newer Dibs.*Update/s);
    const after = openDriver(path);
    expect(after.prepare("SELECT count(*) AS n FROM of_the_future").all()).toEqual([{ n: 0 }]);
    after.close();
  });

  test("is whole or not there: a step that fails leaves nothing behind", () => {
    const driver = openDriver(":memory:");
    expect(() => migrate(driver, ["CREATE TABLE a (x); CREATE TABLE nonsense nonsense"])).toThrow();
    expect(driver.prepare("SELECT count(*) AS n FROM sqlite_schema").all()).toEqual([{ n: 0 }]);
    migrate(driver, ["CREATE TABLE a (x)"]);
    migrate(driver, ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y"]);
    expect(driver.prepare("SELECT y FROM a").all()).toEqual([]);
    driver.close();
  });

  test.each([
    ["3.51.2", true],
    ["3.45.0", true],
    ["2.99.99", true],
    ["3.51.3", false],
    ["3.53.2", false],
    ["4.0.0", false],
  ])("an engine that can corrupt shared files is refused by name: SQLite %s", async (version, refused) => {
    const real = openDriver(":memory:");
    const older: SqliteDriver = {
      ...real,
      prepare: (sql) => real.prepare(sql.replace("sqlite_version()", `'${version}'`)),
    };
    if (refused) {
      const { code, message } = await refusal(() => migrate(older));
      expect(code).toBe("store_unavailable");
      expect(message).toContain(version);
      expect(message).toContain("3.51.3");
    } else migrate(older);
    real.close();
  });
});

describe("errors are never an empty answer (R58)", () => {
  test("C53: garbage in place of a store", async () => {
    const path = join(folder(), "dibs.db");
    writeFileSync(path, "This is no database. ".repeat(1000));
    const refused = await refusal(() => openSqlite({ path }));
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toContain(path);
    expect(readFileSync(path, "utf8").startsWith("This is no database.")).toBe(true);
  });

  test("C53: a file that is damaged under a running store: reads and claims fail, none says that there is nothing", async () => {
    const path = join(folder(), "dibs.db");
    const made = openSqlite({ path });
    await made.transaction("write", async (tx) => {
      await tx.workspaces.insert({ id: "w", name: "default", settings: {} as never, created_at: 1 });
    });
    await made.close();
    const store = openSqlite({ path });
    const bytes = readFileSync(path);
    bytes.fill(0xee, 4096);
    writeFileSync(path, bytes);
    for (const mode of ["read", "write"] as const) {
      const refused = await refusal(() => store.transaction(mode, async (tx) => tx.workspaces.byName("default")));
      expect(refused).toMatchObject({ code: "store_unavailable" });
    }
    await store.close();
  });

  test("a folder in place of a file, a file in place of a folder, and an address that is no store's", async () => {
    const dir = folder();
    mkdirSync(join(dir, "dibs.db"));
    writeFileSync(join(dir, "plain"), "");
    for (const [url, said] of [
      [`sqlite:${dir}/dibs.db`, "dibs.db"],
      [`sqlite:${dir}/plain/dibs.db`, "plain"],
      ["mysql://localhost/dibs", "mysql"],
    ] as const) {
      const refused = await refusal(() => openStore(url));
      expect(refused).toMatchObject({ code: "store_unavailable" });
      expect(refused.message).toContain(said);
    }
  });

  test("C53: a file that may not be written", async () => {
    const dir = folder();
    const path = join(dir, "dibs.db");
    await openSqlite({ path }).close();
    chmodSync(path, 0o444);
    chmodSync(dir, 0o555);
    const refused = await asNobody(() => refusal(() => openSqlite({ path })));
    chmodSync(dir, 0o755);
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toContain(path);
  });

  test("a full disk is its own error", () => {
    const driver = openDriver(join(folder(), "dibs.db"));
    driver.exec("CREATE TABLE filling (x)");
    driver.exec("PRAGMA max_page_count = 60");
    let fault: unknown;
    try {
      for (let n = 0; n < 1000; n += 1) {
        driver.prepare("INSERT INTO filling VALUES (?)").run(`${n} ${"x".repeat(4000)}`);
      }
    } catch (thrown) {
      fault = thrown;
    }
    driver.close();
    expect(translateSqliteFault(fault, "/data/dibs.db")).toMatchObject({ code: "storage_full" });
  });

  test("a fault of our own stays what it is, and is not said to be the store's", () => {
    const fault = new TypeError("undefined is not a function");
    expect(translateSqliteFault(fault, "/data/dibs.db")).toBe(fault);
  });

  test("an unknown project or agent to filter by is an error, not an empty list", async () => {
    const fresh = await FreshStore.open();
    for (const input of [{ project_id: "nowhere" }, { assigned_to: "f".repeat(32) }]) {
      expect(await fresh.refusal("list_tasks", input, fresh.root)).toMatchObject({ code: "not_found" });
    }
  });
});

describe("where the file lies", () => {
  const NETWORK = { NFS: 0x6969, SMB: 0x517b, CIFS: 0xff534d42, SMB2: 0xfe534d42, "9p": 0x01021997, FUSE: 0x65735546 };
  test.skipIf(process.platform !== "linux").each(Object.entries(NETWORK))(
    "C53: a network file system is refused with the remedy: %s",
    async (_name, type) => {
      for (const signed of [type, type | 0]) {
        const refused = await refusal(() => refuseNetworkFileSystem("/mnt/share/dibs.db", () => signed));
        expect(refused).toMatchObject({ code: "store_unavailable" });
        expect(refused.message).toMatch(/\/mnt\/share\/dibs\.db.*local disk.*PostgreSQL/s);
      }
    },
  );

  test("local ones are not: ext4, xfs, btrfs, tmpfs, overlay; nor what can't be told", () => {
    for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) {
      refuseNetworkFileSystem("/data/dibs.db", () => type);
    }
    refuseNetworkFileSystem("/nowhere/dibs.db");
  });

  test("C51: another spelling and a symbolic link are the same store", async () => {
    const dir = folder();
    mkdirSync(join(dir, "data"));
    symlinkSync(join(dir, "data"), join(dir, "link"));
    const first = await openStore(`sqlite:${dir}/data/dibs.db`);
    await first.transaction("write", async (tx) => {
      await tx.workspaces.insert({ id: "w", name: "default", settings: {} as never, created_at: 1 });
    });
    for (const path of [`${dir}/./data//dibs.db`, `${dir}/link/dibs.db`, `${dir}/data/../data/dibs.db`]) {
      const same = await openStore(`sqlite:${path}`);
      expect(await read(same)).toMatchObject({ id: "w" });
      await same.close();
    }
    await first.close();
  });

  test("the folder of a new store is its owner's alone", async () => {
    const dir = join(folder(), "deep", "down");
    await (await openStore(`sqlite:${dir}/dibs.db`)).close();
    const mode = (path: string) => (readMode(path) & 0o777).toString(8);
    expect(mode(dir)).toBe("700");
  });

  test("a copy of the file is a store of its own that goes on from there", async () => {
    const dir = folder();
    const store = openSqlite({ path: join(dir, "a.db") });
    await store.transaction("write", async (tx) => {
      await tx.workspaces.insert({ id: "w", name: "default", settings: {} as never, created_at: 1 });
    });
    await store.close();
    copyFileSync(join(dir, "a.db"), join(dir, "b.db"));
    const copy = openSqlite({ path: join(dir, "b.db") });
    expect(await read(copy)).toMatchObject({ id: "w" });
    await copy.close();
  });
});

function readMode(path: string): number {
  return statSync(path).mode;
}

/** Root may write everywhere: as somebody who may not, then. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
