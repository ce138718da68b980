import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";
import { operationList } from "../contract/operations.js";
import { pathFields, takesQuery } from "./operation-input.js";

const ID = "0123456789abcdef0123456789abcdef";
let stub: StubHttp;
beforeAll(async () => {
  stub = await StubHttp.start();
});
afterAll(() => stub[Symbol.asyncDispose]());

describe("a request becomes the input of its operation", () => {
  test("every operation is reached at its path and its aliases, under /v1 and /api", async () => {
    for (const operation of operationList) {
      for (const { method, path } of [operation, ...(operation.aliases ?? [])]) {
        for (const base of ["/v1", "/api"]) {
          const url = path.replace("/v1", base).replace(/:\w+/g, ID);
          expect((await stub.send(method, url)).status, `${method} ${url}`).toBe(200);
          const wanted = Object.fromEntries(pathFields(path).map((name) => [name, ID]));
          expect(stub.asked.at(-1)?.operation.name).toBe(operation.name);
          expect(stub.lastInput).toEqual(wanted);
        }
      }
    }
  });

  test("query text becomes what the schema asks for: numbers, booleans, arrays of one and of many", async () => {
    await stub.send("GET", "/v1/tasks?limit=7&ready=true&claimed=false&label=a%20b%2Cc&search=5");
    expect(stub.lastInput).toEqual({ limit: 7, ready: true, claimed: false, label: "a b,c", search: "5" });
    await stub.send("GET", "/v1/events?types=task.created");
    expect(stub.lastInput).toEqual({ types: ["task.created"] });
    await stub.send("GET", "/v1/events?types=task.created&types=task,claimed");
    expect(stub.lastInput).toEqual({ types: ["task.created", "task,claimed"] });
    await stub.send("DELETE", `/v1/agents/${ID}?force=true`);
    expect(stub.lastInput).toEqual({ agent_id: ID, force: true });
  });

  test("query text that can't become it stays as it came, for the engine to refuse", async () => {
    await stub.send("GET", "/v1/tasks?limit=ten&ready=yes&claimed=&label=a&label=b");
    expect(stub.lastInput).toEqual({ limit: "ten", ready: "yes", claimed: "", label: ["a", "b"] });
    await stub.send("GET", "/v1/tasks?limit=1e3&unknown=1&key=secret");
    expect(stub.lastInput).toEqual({ limit: "1e3", unknown: "1", key: "secret" });
  });

  test("a body is passed on as it came: no text becomes a number, null stays null", async () => {
    const body = { lease_seconds: "300", labels: null, wait_seconds: 1e12, extra: [1] };
    await stub.send("POST", "/v1/tasks/claim", { body });
    expect(stub.lastInput).toEqual(body);
  });

  test("parts of the path are decoded once", async () => {
    await stub.send("GET", "/v1/projects/team%2Fapp");
    expect(stub.lastInput).toEqual({ project_id: "team/app" });
    await stub.send("GET", "/v1/projects/a%252Fb%20%C3%A9");
    expect(stub.lastInput).toEqual({ project_id: "a%2Fb é" });
  });
});

describe("a field has one place", () => {
  test.each(operationList.filter((operation) => pathFields(operation.path).length > 0))(
    "$name refuses a field in query or body that stands in its path",
    async ({ method, path }) => {
      const [name] = pathFields(path) as [string];
      const url = path.replace(/:\w+/g, ID);
      const before = stub.asked.length;
      const answer = takesQuery(method)
        ? await stub.send(method, `${url}?${name}=${ID}`)
        : await stub.send(method, url, { body: { [name]: ID } });
      expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 400, code: "invalid_input" });
      expect(answer.json.fields[0].field).toBe(name);
      expect(stub.asked.length).toBe(before);
    },
  );

  test("a write's fields may not stand in its URL; nor may a key, whose text is not repeated", async () => {
    const before = stub.asked.length;
    for (const name of ["wait_seconds", "key", "access_token", "X-Agent-Key"]) {
      const answer = await stub.send("POST", `/v1/tasks/claim?${name}=sesame-open-up`);
      expect(answer.json).toMatchObject({ status: 400, code: "invalid_input", fields: [{ field: name }] });
      expect(answer.text).not.toContain("sesame-open-up");
    }
    expect(stub.asked.length).toBe(before);
  });

  test("a key in the URL is no key", async () => {
    for (const name of ["key", "api_key", "access_token", "token"]) {
      const answer = await stub.send("GET", `/v1/tasks?${name}=a-good-key`, { headers: { "x-agent-key": undefined } });
      expect(answer.status).toBe(401);
    }
  });

  test("__proto__ in a query is refused by name", async () => {
    const answer = await stub.send("GET", "/v1/tasks?__proto__=x");
    expect(answer.json).toMatchObject({ code: "invalid_input", fields: [{ field: "__proto__" }] });
  });

  test("a deletion takes its fields from query and body, but none from both", async () => {
    await stub.send("DELETE", `/v1/agents/${ID}`, { body: { force: true } });
    expect(stub.lastInput).toEqual({ agent_id: ID, force: true });
    const answer = await stub.send("DELETE", `/v1/agents/${ID}?force=true`, { body: { force: false } });
    expect(answer.json).toMatchObject({ status: 400, fields: [{ field: "force" }] });
  });
});

describe("paths that could mean two things mean none", () => {
  test.each([
    ["/v1%2Ftasks", 404],
    ["/v1/tasks%2Fclaim", 404],
    ["/v1//tasks", 404],
    ["/v1/tasks/", 200],
    ["/V1/tasks", 404],
    ["/v1/../v1/tasks", 404],
    ["/v1/tasks/..%2Fagents", 200],
    ["/v1/tasks;key=x", 404],
    ["/v1/tasks/%zz", 400],
    ["/v1/tasks/%ff", 400],
    ["/v1/tasks/PART-OF-2000", 400],
  ])("%s", async (shown, status) => {
    const path = shown.replace("PART-OF-2000", "a".repeat(2000));
    const withKey = await stub.send("GET", path);
    expect(withKey.status).toBe(status);
    // Whatever it meant, nothing of it was reached without a key.
    const before = stub.asked.length;
    const without = await stub.send("GET", path, { headers: { "x-agent-key": undefined } });
    expect({ status: without.status, code: without.json.code }).toEqual({ status: 401, code: "unauthorized" });
    expect(stub.asked.length).toBe(before);
  });

  test("an encoded slash in an id stays part of the id", async () => {
    await stub.send("GET", `/v1/tasks/${ID}%2Fwhy`);
    expect(stub.asked.at(-1)?.operation.name).toBe("get_task");
    expect(stub.lastInput).toEqual({ task_id: `${ID}/why` });
  });
});
