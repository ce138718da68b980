import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";

/** One traced system call that matters: bytes over a socket, or a write or sync of the store's log. */
interface Call {
  readonly what: "asked" | "answered" | "log written" | "log synced";
  readonly line: string;
}

const SYSCALLS = "read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,pwrite64,pwritev,fsync,fdatasync";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;

// strace is Linux's own and no package of npm's brings it. Elsewhere the same code runs and the same SQLite syncs, but
// nothing can watch it: the test is skipped there, and wherever strace is (Debian: apt-get install strace) it runs.
describe.skipIf(!hasStrace)("durability, by the system calls of a real server (R55)", () => {
  let folder: ScratchFolder;
  let server: ServerProcess | undefined;

  beforeEach(() => {
    folder = ScratchFolder.onDisk();
  });
  afterEach(async () => {
    await server?.stop();
    folder.remove();
  });

  test("the log is written and synced after a claim or completion is asked for and before it is answered", async () => {
    const trace = folder.file("trace");
    // -D leaves the server our own child, -y names the file behind each descriptor, -f follows the engine's threads.
    const under = ["strace", "-D", "-f", "-y", "-s", "80", "-e", `trace=${SYSCALLS}`, "-o", trace];
    server = await ServerProcess.start({ store: `sqlite:${folder.file("dibs.db")}`, under });
    const http = server.client();
    await http.post("/v1/tasks", { content: "one" });
    const { task } = (await http.post("/v1/tasks/claim")).body;
    await http.post(`/v1/tasks/${task.id}/complete`, { lease_id: task.lease_id });
    http.close();
    // strace pads the process's number to five places.
    const ended = new RegExp(`^${server.pid} +\\+\\+\\+ exited with 0 `, "m");
    await server.stop();
    await until(() => ended.test(readFileSync(trace, "utf8")));
    const all = callsIn(readFileSync(trace, "utf8"));
    for (const path of ["/v1/tasks ", "/v1/tasks/claim", `/v1/tasks/${task.id}/complete`]) {
      const asked = all.findIndex(({ what, line }) => what === "asked" && line.includes(`POST ${path}`));
      const between = all.slice(
        asked,
        all.findIndex(({ what }, at) => at > asked && what === "answered"),
      );
      const steps = between.map(({ what }) => what);
      expect(asked, `${path} in the trace`).toBeGreaterThanOrEqual(0);
      // Written before synced, and nothing written after that.
      expect([path, steps.includes("log written"), steps.at(-1)]).toEqual([path, true, "log synced"]);
    }
  }, 120_000);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * What matters in a trace, in order. A call that another thread interrupted stands on two lines: what is written or
 * sent counts from its first, what is read or synced from its last.
 */
function callsIn(trace: string): Call[] {
  const calls: Call[] = [];
  const syncing = new Set<string>();
  for (const line of trace.split("\n")) {
    const thread = line.split(" ", 1)[0] as string;
    const add = (what: Call["what"]) => calls.push({ what, line });
    if (line.includes('"POST /')) add("asked");
    else if (/(write|send)\w*\(.*"HTTP\/1\.1 20/.test(line)) add("answered");
    else if (/pwrite\w*\(\d+<[^>]*\/dibs\.db-wal>/.test(line)) add("log written");
    else if (/sync\(\d+<[^>]*\/dibs\.db-wal>/.test(line)) {
      if (/\) += 0$/.test(line)) add("log synced");
      else syncing.add(thread);
    } else if (/sync resumed>\) += 0$/.test(line) && syncing.delete(thread)) add("log synced");
  }
  return calls;
}
