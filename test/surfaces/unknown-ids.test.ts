import { type OperationName, operationList } from "dibs/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOT_IN_TOOLS, pathOf, required, UNKNOWN } from "./open-calls.js";
import { cli } from "./over-cli.js";
import { rest } from "./over-http.js";
import { mcp } from "./over-mcp.js";
import type { Fields, Surface } from "./surface.js";
import { refusedWithoutTrace } from "./traces.js";
import { openWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe("what is not there", () => {
  /** A call for each operation that names something by id, with the id left open. */
  const naming: { operation: OperationName; field: string; input: Fields }[] = operationList.flatMap((operation) =>
    Object.keys(operation.input.shape)
      .filter((field) =>
        /^(task_id|agent_id|session_id|recurrence_id|project_id|assigned_to|assigned_to_agent_id|to_agent_id|to_session_id|claim_id|handoff_id)$/.test(
          field,
        ),
      )
      .map((field) => {
        const name = operation.name as OperationName;
        return { operation: name, field, input: { ...pathOf(operation, UNKNOWN), ...required(name) } };
      }),
  );
  /** The same things of another workspace. */
  let theirs: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const { dibs: stranger } = await world.stranger();
    const session = await stranger.session();
    const task = await session.createTask({ content: "theirs" });
    await session.claimTask({ task_id: task.id });
    const { id: agent } = await stranger.getMe();
    const recurrence = await stranger.createRecurrence({ name: "theirs", content: "x", cron: "@yearly" });
    const { claims } = await session.claimScopes({ scopes: ["path:theirs"], intent: "x" });
    const { id: handoff } = await session.handoffTask({ task_id: task.id, to_agent_id: agent });
    theirs = {
      claim_id: claims[0]?.id ?? "",
      handoff_id: handoff,
      to_agent_id: agent,
      to_session_id: session.record.id,
      task_id: task.id,
      project_id: task.project_id,
      session_id: session.record.id,
      agent_id: agent,
      recurrence_id: recurrence.id,
      assigned_to: agent,
      assigned_to_agent_id: agent,
    };
  });

  test("is named by many calls", () => expect(naming.length).toBeGreaterThan(45));

  async function sameForBoth(surface: Surface, call: (typeof naming)[number]): Promise<void> {
    const { operation, field, input } = call;
    const ask = (id: string | undefined) =>
      refusedWithoutTrace(world, () =>
        surface.ask({
          operation,
          as: world.people.boss,
          session: world.people.boss.sessionId,
          input: { ...input, [field]: id },
        }),
      );
    const unknown = await ask(UNKNOWN);
    expect(unknown, `${operation} ${field}`).toMatchObject({ code: "not_found" });
    const foreign = await ask(theirs[field]);
    const asUnknown = JSON.stringify(foreign).replaceAll(theirs[field] ?? "", UNKNOWN);
    expect(JSON.parse(asUnknown), `${operation} ${field}`).toEqual(unknown);
  }

  test.each(naming.map((call) => [`${call.operation} ${call.field}`, call] as const))(
    "gets 404 over REST, another workspace's id exactly like an unknown one (R47): %s",
    (_title, call) => sameForBoth(rest("/v1").open(world), call),
  );

  test("gets not_found over MCP, another workspace's id exactly like an unknown one (R47)", async () => {
    const surface = mcp("HTTP").open(world);
    for (const call of naming) {
      const fronted = mcp("HTTP").tools?.fronts(call.operation) && !NOT_IN_TOOLS.has(`${call.operation}.${call.field}`);
      if (fronted && call.field !== "session_id") await sameForBoth(surface, call);
    }
    await surface.close();
  });

  test.each(["get_task", "complete_task", "end_session"] as const)(
    "gets not_found from a command, another workspace's id exactly like an unknown one (R47): %s",
    async (operation) => {
      const call = naming.find((one) => one.operation === operation);
      await sameForBoth(cli("file").open(world), call as (typeof naming)[number]);
    },
  );

  test("as the calling session gets 404, whatever is asked", async () => {
    const surface = rest("/v1").open(world);
    for (const session of [UNKNOWN, theirs.session_id, world.people.ann.sessionId, "nonsense"]) {
      const ask = () => surface.ask({ operation: "claim_next_task", as: world.people.boss, session, input: {} });
      expect(await refusedWithoutTrace(world, ask)).toMatchObject({ code: "not_found" });
    }
  });
});
