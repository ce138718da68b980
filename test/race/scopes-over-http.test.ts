import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, rounds } from "../support/campaign.js";
import { DibsCommand } from "../support/dibs-command.js";
import type { RawHttp } from "../support/raw-http.js";
import { CHAIN } from "../support/scope-chain.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";

describe("sessions that reach at one instant for scopes along one chain (R31, R32, C04)", () => {
  let folder: ScratchFolder;
  let server: ServerProcess;
  let http: RawHttp[];

  beforeEach(async () => {
    folder = ScratchFolder.onDisk();
    server = await ServerProcess.start({ store: `sqlite:${folder.file("dibs.db")}` });
    http = CHAIN.map(() => server.client());
  });
  afterEach(async () => {
    for (const each of http) each.close();
    await server.stop();
    folder.remove();
  });

  const sessions = () =>
    Promise.all(http.map(async (each) => (await each.post("/v1/sessions", { client: "race" })).body.id as string));
  const claim = (nth: number, session: string) =>
    http[nth]?.post("/v1/scopes/claim", { scopes: [CHAIN[nth]], intent: "race" }, { session });

  test("over HTTP, round after round, one wins and the others are told who", { timeout: limit(120_000) }, async () => {
    const ids = await sessions();
    for (let round = 0; round < rounds(50, 200); round += 1) {
      const answers = await Promise.all(ids.map((id, nth) => claim(nth, id)));
      const won = answers.flatMap((answer) => (answer?.status === 201 ? answer.body.claims : []));
      expect(won).toHaveLength(1);
      for (const answer of answers.filter((each) => each?.status !== 201)) {
        const { id, scope, mode, agent_name, session_id, intent, expires_at } = won[0];
        const holder = { id, scope, mode, agent_name, session_id, intent, expires_at };
        expect(answer?.body).toMatchObject({ code: "scope_conflict", conflicts: [{ holder }] });
      }
      const freed = await http[0]?.post("/v1/scopes/release", { all: true }, { session: won[0].session_id });
      expect(freed?.body.released).toBe(1);
    }
  });

  test("mixed with commands on the bare file", { timeout: limit(120_000) }, async () => {
    const env = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "crew" };
    for (let round = 0; round < rounds(3, 200); round += 1) {
      // Sessions of their own, so that those of one round don't renew what those of another hold.
      const ids = await sessions();
      const commands = CHAIN.slice(0, 4).map(
        (scope, nth) =>
          new DibsCommand(
            ["scope", "claim", scope, "--intent", "race", "--session", ids[nth] as string, "--json"],
            { ...env, DIBS_AGENT: "admin" },
            tmpdir(),
          ),
      );
      const answers = Promise.all(ids.slice(4).map((id, nth) => claim(nth + 4, id)));
      const ends = await Promise.all(commands.map((command) => command.finished));
      const won = [
        ...(await answers).flatMap((answer) => (answer?.status === 201 ? answer.body.claims : [])),
        ...ends.flatMap(({ exit, stdout }) => (exit === 0 ? JSON.parse(stdout).claims : [])),
      ];
      expect(ends.map(({ exit }) => exit).filter((exit) => exit !== 0 && exit !== 4)).toEqual([]);
      expect(won).toHaveLength(1);
      await http[0]?.post(`/v1/sessions/${won[0].session_id}/end`);
    }
  });
});
