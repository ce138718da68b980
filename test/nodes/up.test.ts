import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { freshDatabase, query } from "../support/postgres.js";
import { RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { DIBS, ownEnvironment } from "../support/server-process.js";

const PASSWORD = "a-very-secret-word";

describe("dibs up --store postgres://…", () => {
  let folder: ScratchFolder;
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let store: URL;
  const role = `dibs_up_${process.pid}`;

  beforeEach(async () => {
    folder = new ScratchFolder();
    database = await freshDatabase(inject("postgres"));
    await query(database.url, `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${PASSWORD}'`);
    store = new URL(database.url);
    store.username = role;
    store.password = PASSWORD;
  });
  afterEach(async () => {
    await database.drop();
    await query(inject("postgres"), `DROP ROLE ${role}`);
    folder.remove();
  });

  test("serves it, tells no password, and keeps the new admin's key where the user's data is (C75)", async () => {
    const first = await started(["--store", store.href]);
    expect(first.said).toContain(`postgres://${role}:***@`);
    expect(first.said).not.toContain(PASSWORD);
    const keyFile = /key for HTTP is in (\S+)/.exec(first.said)?.[1] as string;
    expect(keyFile.startsWith(folder.path)).toBe(true);
    const url = /http:\/\/localhost:\d+/.exec(first.said)?.[0] as string;
    const http = new RawHttp(url, readFileSync(keyFile, "utf8").trim());
    expect((await http.post("/v1/tasks", { content: "one" })).status).toBe(201);
    http.close();
    // A second node has the same admin, and no key to tell.
    const second = await started([], { DIBS_STORE: store.href });
    expect(second.said).not.toContain("key for HTTP");
    for (const node of [first, second]) await node.stop();
  });

  test("says what is wrong with a URL or a login, without its password", async () => {
    const broken = await started(["--store", `postgres://${role}:${PASSWORD}@localhost:port/x`]);
    expect([broken.exit(), broken.said]).toEqual([2, expect.stringContaining("is no URL; write postgres://USER")]);
    const wrong = new URL(store);
    wrong.password = `${PASSWORD}-not`;
    const refused = await started(["--store", wrong.href]);
    expect(refused.exit()).toBe(7);
    expect(refused.said).toContain("refused the password; check DIBS_STORE");
    for (const { said } of [broken, refused]) expect(said).not.toContain(PASSWORD);
  });

  /** Starts it and resolves when it serves, or has ended. */
  async function started(args: string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [DIBS, "up", "--port", "0", ...args], {
      env: ownEnvironment({ XDG_DATA_HOME: folder.path, NO_COLOR: "1", ...env }),
    });
    let said = "";
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const serves = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          said += chunk;
          if (said.includes("Ctrl-C stops")) resolve();
        });
      }
    });
    await Promise.race([serves, gone]);
    const stop = async () => {
      child.kill();
      await gone;
    };
    return { said, exit: () => child.exitCode, stop };
  }
});
