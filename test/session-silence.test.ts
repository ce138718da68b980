import { Dibs } from "dibs/client";
import type { Task } from "dibs/contract";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { ServerProcess } from "./support/server-process.js";
import { StoreFile } from "./support/store-file.js";

/** What a session holds, seen from the outside, where nothing runs but what is asked (issue 4, 3; R10, R11). */

const HELD = 50;
vi.setConfig({ testTimeout: 120_000 });

/** The few calls a holder and somebody else make, over one surface. */
interface Surface {
  /** A session that falls silent after two minutes, and holds fifty tasks for an hour. */
  hold(): Promise<string>;
  end(sessionId: string): Promise<{ tasks_released: number }>;
  claims(): Promise<readonly unknown[]>;
  tasks(status: "open" | "claimed"): Promise<readonly Task[]>;
  /** As somebody else, in a session of its own. */
  claimAll(): Promise<readonly Task[]>;
  events(type: string): Promise<readonly { at: string }[]>;
}

let folder: ScratchFolder;
let stores = 0;
beforeAll(() => {
  folder = new ScratchFolder();
});
afterAll(() => folder.remove());

const batch = { tasks: Array.from({ length: HELD }, (_, at) => ({ content: `task ${at}` })) };

async function overHttp(): Promise<{ surface: Surface; file: StoreFile }> {
  const path = folder.file(`store-${++stores}.db`);
  const server = await ServerProcess.start({ store: `sqlite:${path}` });
  onTestFinished(() => server.kill());
  const file = new StoreFile(path);
  // Another node has the housekeeping, and hangs: this server's jobs do nothing.
  const never = "INSERT INTO duties VALUES ('housekeeping', 'a node that hangs', 99, 9000000000000)";
  file.exec(`DELETE FROM duties; ${never}`);
  const admin = new Dibs({ url: server.url, key: server.key });
  await admin.createTasks(batch);
  const as = async (name: string) => new Dibs({ url: server.url, key: (await admin.createAgent({ name })).key });
  const [ann, ben] = [await as("ann"), await as("ben")];
  const surface: Surface = {
    hold: async () => {
      const session = await ann.session({ ttl_seconds: 120 });
      await session.claimNextTask({ count: HELD, lease_seconds: 3600 });
      return session.record.id;
    },
    end: (id) => ann.endSession({ session_id: id }),
    claims: () => ben.listClaims(),
    tasks: (status) => ben.listTasks({ status }),
    claimAll: async () => (await (await ben.session()).claimNextTask({ count: 100 })).tasks ?? [],
    events: (type) => admin.listEvents({ types: [type] }),
  };
  return { surface, file };
}

async function byCommands(): Promise<{ surface: Surface; file: StoreFile }> {
  const path = folder.file(`store-${++stores}.db`);
  const env = { DIBS_STORE: `sqlite:${path}`, NO_COLOR: "1", XDG_CONFIG_HOME: folder.file("config") };
  const as = (name: string) => new CommandLine(folder.path, { ...env, DIBS_AGENT: name });
  const [ann, ben] = [as("ann"), as("ben")];
  await ann.json(["task", "add-many", "--json-input", "-"], JSON.stringify(batch));
  const surface: Surface = {
    hold: async () => {
      const { id } = await ann.json(["session", "open", "--ttl-seconds", "120"]);
      await ann.json(["task", "claim", "--count", `${HELD}`, "--lease-seconds", "3600", "--session", id]);
      return id;
    },
    end: (id) => ann.json(["session", "end", id]),
    claims: () => ben.json(["who"]),
    tasks: (status) => ben.json(["task", "list", "--status", status]),
    // Exit status 3 where there is nothing.
    claimAll: async () => JSON.parse((await ben.run(["--json", "task", "claim", "--count", "100"])).stdout).tasks,
    events: (type) => ben.json(["events", "--type", type, "--limit", "1000"]),
  };
  return { surface, file: new StoreFile(path) };
}

describe.each([
  ["over HTTP", overHttp],
  ["by commands on the bare file", byCommands],
])("a session with fifty claims, %s", (_name, open) => {
  test("ended by call frees all in one transaction, and says how many", async () => {
    const { surface } = await open();
    const id = await surface.hold();
    expect(await surface.claims()).toHaveLength(HELD);
    expect(await surface.end(id)).toMatchObject({ tasks_released: HELD, claims_released: 0 });
    expect(await surface.claims()).toEqual([]);
    const freed = await surface.events("task.released");
    expect(freed).toHaveLength(HELD);
    // The clock is read once a transaction.
    expect(new Set(freed.map((event) => event.at)).size).toBe(1);
    expect(await surface.events("lease.expired")).toEqual([]);
    expect((await surface.claimAll()).map((task) => task.attempts)).toEqual(Array(HELD).fill(1));
  });

  test("fallen silent frees them at its end, though no job runs and nobody has put it on record", async () => {
    const { surface, file } = await open();
    await surface.hold();
    file.moveClock(60_000);
    expect(await surface.claims()).toHaveLength(HELD);
    expect(await surface.claimAll()).toEqual([]);
    // Two minutes, and the eighth by which signs of life are rounded (R9).
    file.moveClock(140_000);
    expect(await surface.claims()).toEqual([]);
    const free = await surface.tasks("open");
    expect(free.map((task) => [task.ready, task.lapsed])).toEqual(Array(HELD).fill([true, true]));
    expect(await surface.tasks("claimed")).toEqual([]);
    // So they read, and are still written as held: nobody was needed for it.
    expect(file.rows("SELECT count(*) AS n FROM tasks WHERE status = 'claimed'")).toEqual([{ n: HELD }]);
    expect((await surface.claimAll()).map((task) => task.attempts)).toEqual(Array(HELD).fill(2));
  });
});
