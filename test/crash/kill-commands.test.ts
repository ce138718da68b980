import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds } from "../support/campaign.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { DIBS, ownEnvironment, ServerProcess } from "../support/server-process.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

describe("processes on the bare file that are killed at any instant (R55, R56, C55)", () => {
  let folder: ScratchFolder;

  beforeEach(() => {
    folder = ScratchFolder.onDisk();
  });
  afterEach(() => folder.remove());

  /** Kills the process at a random instant of so many ms, unless it ends before; says whether it was killed. */
  async function killSomewhere(child: ChildProcess, withinMs: number): Promise<boolean> {
    const gone = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), Math.random() * withinMs);
    const [, signal] = await gone;
    clearTimeout(timer);
    return signal === "SIGKILL";
  }

  test(
    "leave a whole file, and nothing that keeps others out",
    async () => {
      const file = folder.file("dibs.db");
      const server = await ServerProcess.start({ store: `sqlite:${file}` });
      const http = server.client();
      let killed = 0;
      for (let round = 0; round < rounds(2, 50); round++) {
        await http.post("/v1/tasks/batch", { tasks: Array.from({ length: 20 }, () => ({ content: "x" })) });
        const workers = Array.from({ length: 4 }, (_, at) => {
          const env = ownEnvironment({ DIBS_STORE: `sqlite:${file}`, DIBS_AGENT: `agent-${at}` });
          const loop = [DIBS, "work", "--drain", "--count", "3", "--", "true"];
          return spawn(process.execPath, loop, { env, stdio: "ignore" });
        });
        const ends = await Promise.all(workers.map((worker) => killSomewhere(worker, 2_500)));
        killed += ends.filter((end) => end).length;
        // Nobody has to clean up: the server goes on at once.
        expect((await http.post("/v1/tasks", { content: "after" })).status).toBe(201);
        expect(brokenIn(new StoreFile(file))).toEqual([]);
      }
      http.close();
      await server.stop();
      measured("workers on the bare file killed at random", { killed });
    },
    limit(120_000),
  );

  test(
    "during a server's first start leave what the next start can use, its key included",
    async () => {
      let killed = 0;
      for (let round = 0; round < rounds(3, 50); round++) {
        const file = folder.file(`first-${round}.db`);
        const env = { DIBS_ADMIN_KEY: "" };
        const cutOff = await ServerProcess.launch({ store: `sqlite:${file}`, env });
        await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1_200));
        if (cutOff.exitCode === null) killed += 1;
        await cutOff.kill();
        const server = await ServerProcess.start({ store: `sqlite:${file}`, env });
        // Without DIBS_ADMIN_KEY the key is made at the first start and kept beside the store.
        const http = server.client(readFileSync(`${file}.admin-key`, "utf8").trim());
        expect((await http.post("/v1/tasks", { content: "x" })).status).toBe(201);
        http.close();
        await server.kill();
        expect(brokenIn(new StoreFile(file))).toEqual([]);
      }
      measured("servers killed during their first start", { killed });
    },
    limit(120_000),
  );
});
