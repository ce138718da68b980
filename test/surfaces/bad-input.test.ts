import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BAD_INPUTS, BY_COMMAND } from "./bad-inputs.js";
import { type BadWay, badCli, badMcp, badRest, names } from "./bad-ways.js";
import { type Bad, HELD, SOMEBODY } from "./mistakes.js";
import { cli, dibs, placeOf } from "./over-cli.js";
import { heardOf, rest } from "./over-http.js";
import { mcp } from "./over-mcp.js";
import { mistakes, refusedWithoutTrace } from "./traces.js";
import { openWorld, type Person, type World } from "./world.js";

let world: World;
let boss: Person;
let ann: Person;
/** What the words in braces stand for. */
let real: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await openWorld();
  ({ boss, ann } = world.people);
  const { id } = await boss.dibs.createTask({ content: "held by the boss" });
  await boss.dibs.claimTask({ task_id: id });
  await boss.dibs.createTask({ content: "ready" });
  real = { [HELD]: id, [SOMEBODY]: ann.agentId };
});
afterAll(() => world.close());

function inThisWorld(bad: Bad): Bad {
  const path = Object.entries(bad.path ?? {}).map(([field, value]) => [field, real[String(value)] ?? value]);
  return { ...bad, path: Object.fromEntries(path) };
}

async function isRefused(way: BadWay, bad: Bad): Promise<void> {
  const heard = await refusedWithoutTrace(world, () => way.send(inThisWorld(bad)));
  if (heard === undefined) return;
  const { code = "invalid_input" } = bad;
  expect(heard).toMatchObject({ code, body: { detail: expect.stringMatching(bad.says) } });
  if (heard.exit !== undefined) expect(heard.exit).toBe(2);
  if (code !== "invalid_input") return;
  const field = way.fieldOf(bad);
  expect(
    mistakes(heard).some((one) => names(one.field, field)),
    `${field} in ${JSON.stringify(mistakes(heard)).slice(0, 300)}`,
  ).toBe(true);
}

const titled = (bads: readonly Bad[]) => bads.map((bad) => [`${bad.operation}: ${bad.what}`, bad] as const);
const sayable = (kind: BadWay["kind"]) => BAD_INPUTS.filter((bad) => !bad.not?.includes(kind));
describe("a mistake is refused with its field, the limit and the remedy, and leaves no trace", () => {
  test.each(titled(sayable("REST")))("over REST, %s", (_title, bad) => isRefused(badRest(world, boss), bad));

  const toolFor = (bad: Bad) => mcp("HTTP").tools?.fronts(bad.operation) || bad.operation === "create_task";
  test.each(titled(sayable("MCP").filter(toolFor)))("over MCP, %s", (_title, bad) =>
    isRefused(badMcp(world, boss), bad),
  );

  const inTurn = (which: 0 | 1) => titled(BY_COMMAND).filter((_each, at) => at % 2 === which);
  test.each(inTurn(0))("by a command on the bare file, %s", (_title, bad) =>
    isRefused(badCli(world, "file", boss), bad),
  );

  test.each(inTurn(1))("by a command over HTTP, %s", (_title, bad) => isRefused(badCli(world, "server", boss), bad));
});

describe("a body that is too large", () => {
  const input = { tasks: [{ content: "a title" }, { content: "x", context: { text: "x".repeat(1_100_000) } }] };

  test.each([rest("/v1"), mcp("HTTP"), mcp("stdio over HTTP"), cli("server")])(
    "is refused with the limit and its setting: $name",
    async (entrance) => {
      const surface = entrance.open(world);
      const call = { operation: "create_tasks", json: JSON.stringify(input), what: "", field: "", says: /./ } as const;
      const send = () =>
        entrance.name.includes("command")
          ? badCli(world, "server", boss).send(call)
          : surface.ask({ operation: "create_tasks", as: boss, session: boss.sessionId, input });
      const heard = await refusedWithoutTrace(world, send);
      expect(heard).toMatchObject({ code: "too_large", body: { limit: 1_048_576 } });
      expect(JSON.stringify(heard?.body)).toMatch(/more than 1048576 bytes.*DIBS_BODY_LIMIT/);
      if (heard?.exit !== undefined) expect(heard.exit).toBe(2);
      await surface.close();
    },
  );
});

describe("conditions and keys of a call", () => {
  const change = (headers: Record<string, string>) => async () =>
    heardOf(
      await fetch(`${world.url}/v1/tasks/${real[HELD]}`, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${boss.key}`,
          "x-dibs-session": boss.sessionId,
          "content-type": "application/json",
          ...headers,
        },
        body: '{"priority":1}',
      }),
    );

  test.each(["5", "abc", '"x"', 'W/"1"', '""', '"99999999999999999999"', '"1","2"'])(
    "If-Match %s is refused",
    async (value) => {
      const heard = await refusedWithoutTrace(world, change({ "if-match": value }));
      expect(heard).toMatchObject({
        code: "invalid_input",
        body: { detail: expect.stringContaining('must be the version in quotes, as "5"') },
      });
      expect(mistakes(heard)[0]?.field).toBe("If-Match");
    },
  );

  test("a version that is not the present one is refused with the present one", async () => {
    const heard = await refusedWithoutTrace(world, change({ "if-match": '"99"' }));
    expect(heard).toMatchObject({ code: "version_mismatch", body: { version: 2 } });
  });

  test.each([0, 300])(
    "an Idempotency-Key of %d characters is refused by every surface that takes one",
    async (length) => {
      const idempotencyKey = "k".repeat(length);
      const refusal = {
        code: "invalid_input",
        body: { detail: expect.stringMatching(/[Ii]dempotency[-_][Kk]ey: must /) },
      };
      expect(await refusedWithoutTrace(world, change({ "idempotency-key": idempotencyKey }))).toMatchObject(refusal);
      const input = { content: "never made" };
      for (const entrance of [cli("server"), cli("file")]) {
        const ask = () => entrance.open(world).ask({ operation: "create_task", as: boss, input, idempotencyKey });
        expect(await refusedWithoutTrace(world, ask), entrance.name).toMatchObject({ ...refusal, exit: 2 });
      }
    },
  );

  test("a command line that can't be read is refused with exit status 2", async () => {
    for (const args of [
      ["task", "update", String(real[HELD]), "--if-version", "abc"],
      ["task", "frobnicate"],
      ["task", "claim", "--colour", "red"],
    ]) {
      const before = await world.contents();
      const { exit, stdout } = await dibs([...args, "--json"], placeOf(world, "file", boss));
      expect({ exit, ...JSON.parse(stdout) }).toMatchObject({ exit: 2, code: "invalid_input" });
      expect(await world.contents()).toEqual(before);
    }
  });

  test.each(["%00", "%zz", "%ED%A0%80", "%E0%A4%A"])(
    "an address with %s is no fault of the server's",
    async (bytes) => {
      for (const path of [`/v1/tasks?search=${bytes}`, `/v1/tasks/${bytes}`, `/v1/projects/${bytes}`, `/v1/${bytes}`]) {
        const response = await fetch(`${world.url}${path}`, { headers: { authorization: `Bearer ${boss.key}` } });
        expect([200, 400, 404], path).toContain(response.status);
      }
    },
  );
});

describe("what is no mistake", () => {
  test("a label given twice counts once, in a task and in a claim", async () => {
    const label = "twice";
    const task = await boss.dibs.createTask({ content: "labelled", labels: [label, "other", label] });
    expect(task.labels).toEqual([label, "other"]);
    const { task: claimed } = await boss.dibs.claimNextTask({ labels: [label, label] });
    expect(claimed?.id).toBe(task.id);
  });

  test("null means absent on create and claim, and a write without a body is {}", async () => {
    const task = await boss.dibs.createTask({ content: "x", labels: ["null"], priority: null, context: null } as never);
    expect(task).toMatchObject({ priority: 2, context: null });
    const claim = (body: string | null) =>
      fetch(`${world.url}/v1/tasks/${task.id}/claim`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${boss.key}`,
          "x-dibs-session": boss.sessionId,
          ...(body ? { "content-type": "application/json" } : {}),
        },
        body,
      }).then(heardOf);
    expect(await claim(null)).toMatchObject({ code: "ok" });
    expect(await claim('{"lease_seconds":null,"takeover":null}')).toMatchObject({
      code: "ok",
      body: { task: { fence: 1 } },
    });
  });

  test("tools understand numbers and lists as text, which REST refuses", async () => {
    await boss.dibs.createTask({ content: "for tools", labels: ["tools"] });
    const input = { labels: '["tools"]', lease_seconds: "300" };
    const ask = (entrance: ReturnType<typeof rest>) =>
      entrance.open(world).ask({ operation: "claim_next_task", as: boss, session: boss.sessionId, input });
    expect(await refusedWithoutTrace(world, () => ask(rest("/v1")))).toMatchObject({ code: "invalid_input" });
    expect(await ask(mcp("HTTP"))).toMatchObject({ code: "ok", body: { task: { content: "for tools" } } });
  });
});
