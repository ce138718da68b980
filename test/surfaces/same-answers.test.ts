import { COMMON_ERRORS, ERRORS, type ErrorCode, EXIT, operationList, operations } from "dibs/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { advised, contradiction, normal } from "./normal.js";
import { cli } from "./over-cli.js";
import { client, rest } from "./over-http.js";
import { mcp } from "./over-mcp.js";
import { rowsOfClaims } from "./rows-of-claims.js";
import { rowsOfDelegations } from "./rows-of-delegations.js";
import { rowsOfDependencies } from "./rows-of-dependencies.js";
import { rowsOfEvidence } from "./rows-of-evidence.js";
import { rowsOfHandoffs } from "./rows-of-handoffs.js";
import { rowsOfHistory } from "./rows-of-history.js";
import { rowsOfHolders } from "./rows-of-holders.js";
import { rowsOfHolds } from "./rows-of-holds.js";
import { rowsOfPeople } from "./rows-of-people.js";
import { rowsOfPlans } from "./rows-of-plans.js";
import { rowsOfRecords } from "./rows-of-records.js";
import { rowsOfRecurrences } from "./rows-of-recurrences.js";
import { rowsOfScopes } from "./rows-of-scopes.js";
import { rowsOfSessions } from "./rows-of-sessions.js";
import { rowsOfUnlanded } from "./rows-of-unlanded.js";
import { rowsOfWaits } from "./rows-of-waits.js";
import { type Row, Stage } from "./stage.js";
import type { Entrance, Heard, Surface } from "./surface.js";
import { openWorld, type World } from "./world.js";

const ROWS = [
  ...rowsOfClaims,
  ...rowsOfHolders,
  ...rowsOfRecords,
  ...rowsOfEvidence,
  ...rowsOfDependencies,
  ...rowsOfDelegations,
  ...rowsOfPlans,
  ...rowsOfScopes,
  ...rowsOfHandoffs,
  ...rowsOfHolds,
  ...rowsOfUnlanded,
  ...rowsOfWaits,
  ...rowsOfSessions,
  ...rowsOfHistory,
  ...rowsOfPeople,
  ...rowsOfRecurrences,
];

const MODEL = rest("/v1");
const ON_STORE = mcp("stdio on the bare file");
const ENTRANCES: readonly Entrance[] = [
  rest("/api"),
  client,
  cli("server"),
  cli("file"),
  mcp("HTTP"),
  mcp("stdio over HTTP"),
  ON_STORE,
];

/** What REST says is what everybody has to say; asked once a row, in a world of its own. */
let model: World;
let document: Promise<Record<string, object>> | undefined;
const said = new Map<Row, Promise<Heard>>();
beforeAll(async () => {
  model = await openWorld();
});
afterAll(() => model.close());

/** The answers that the OpenAPI document has for each operation, by status. */
function documented(): Promise<Record<string, object>> {
  document ??= (async () => {
    const { paths } = (await (await fetch(`${model.url}/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    const operationsIn = Object.values(paths).flatMap((path) => Object.values(path));
    return Object.fromEntries(operationsIn.map(({ operationId, responses }) => [operationId, responses]));
  })();
  return document;
}

function modelSays(row: Row): Promise<Heard> {
  const known = said.get(row) ?? ask(MODEL.open(model), model, row);
  said.set(row, known);
  return known;
}

/** Sets the row up, asks, and gives what was heard in the words of `normal`. */
async function ask(surface: Surface, world: World, row: Row): Promise<Heard> {
  const stage = await Stage.in(world);
  const heard = await surface.ask(stage.asking(row, await row.given(stage)));
  if (heard.code === (row.refused?.code ?? "ok")) await row.leaves?.(stage, heard);
  return { ...heard, body: normal(heard.body, stage.names) };
}

describe("REST says what the table says", () => {
  test.each(titled(ROWS))("%s", async (_title, row) => {
    const { code, body, status, cursor } = await modelSays(row);
    const operation = operations[row.operation];
    expect({ code, body }).toMatchObject({ code: row.refused?.code ?? "ok", body: row.refused ?? row.answers });
    expect(status).toBe(row.refused ? ERRORS[row.refused.code].status : (row.status ?? operation.status ?? 200));
    expect(Object.keys((await documented())[row.operation] ?? {})).toContain(String(status));
    expect(cursor !== undefined).toBe(row.goesOn === true);
    if (row.refused) expect([...operation.errors, ...COMMON_ERRORS]).toContain(row.refused.code);
  });

  test("the table has a row for every operation", () => {
    const asked = new Set<string>(ROWS.map((row) => row.operation));
    expect(operationList.map(({ name }) => name).filter((name) => !asked.has(name))).toEqual([]);
  });
});

// What an entrance makes of an answer doesn't depend on the store: on others than SQLite the table above says what REST
// has to say, and one entrance that opens the store by itself goes beside it.
describe.each(ON_SQLITE ? ENTRANCES : [ON_STORE])("$name", (entrance) => {
  let world: World;
  let surface: Surface;
  beforeAll(async () => {
    world = await openWorld();
    surface = entrance.open(world);
  });
  afterAll(async () => {
    await surface.close();
    await world.close();
  });

  test.each(titled(rowsFor(entrance)))("%s", async (_title, row) => {
    const model = await modelSays(row);
    const heard = await ask(surface, world, row);
    expect(heard).toMatchObject({ code: model.code });
    const { tools } = entrance;
    if (tools) {
      expect(contradiction(heard.body, advised(model.body, tools.inTools))).toBeUndefined();
      // A view may leave fields out of a record, but nothing out of a refusal that decides what to do next.
      if (row.refused) expect(heard.body).toMatchObject(row.refused);
      else expect(Object.keys(heard.body as object).length > 0).toBe(Object.keys(model.body as object).length > 0);
    } else expect(heard.body).toEqual(model.body);
    expect(heard.cursor !== undefined).toBe(row.goesOn === true);
    if (heard.status !== undefined) expect(heard.status).toBe(model.status);
    if (heard.exit !== undefined) expect(heard.exit).toBe(exitOf(heard));
  });
});

function titled(rows: readonly Row[]) {
  return rows.map((row) => [`${row.operation} ${row.does}`, row] as const);
}

function rowsFor(entrance: Entrance): readonly Row[] {
  const sayable = ROWS.filter((row) => canSay(entrance, row));
  if (!entrance.asks) return sayable;
  const ends = (row: Row) => row.refused?.code ?? row.operation;
  const firsts = sayable.filter((row, at) => sayable.findIndex((other) => ends(other) === ends(row)) === at);
  return firsts.filter((row) => entrance.asks?.(row.operation, row.refused?.code));
}

function canSay({ onFile, tools }: Entrance, row: Row): boolean {
  if (onFile && row.about !== undefined) return false;
  return tools === undefined || (row.tools !== false && tools.fronts(row.operation));
}

/** The exit status that the table of errors, and the rules of the empty queue and of the line, give. */
function exitOf({ code, body }: Heard): number {
  if (code !== "ok") return ERRORS[code as ErrorCode].exit;
  const { task, tasks } = body as { task?: unknown; tasks?: unknown[] };
  if (task === null || tasks?.length === 0) return EXIT.nothing;
  const { ticket, claims } = body as { ticket?: unknown; claims?: unknown[] };
  return ticket !== undefined && claims?.length === 0 ? EXIT.timedOut : EXIT.ok;
}
