import { describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";
import { ERROR_CODES, ERRORS } from "../contract/errors.js";
import { operationList } from "../contract/operations.js";
import { PAGE_POLICY } from "./headers.js";
import { type JsonSchema, jsonSchema, RECORDS } from "./json-schema.js";
import { buildOpenApi } from "./openapi.js";
import { pathFields } from "./operation-input.js";
import { renderMarkdown } from "./reference.js";
import { buildReference, exampleBody } from "./reference-model.js";

const reference = buildReference();
const ID = "0".repeat(32);

describe("the reference", () => {
  test("has every operation once, with all its routes, fields and refusals", () => {
    const entries = reference.sections.flatMap(({ entries }) => entries);
    expect(entries.map(({ operation }) => operation.name).sort()).toEqual(operationList.map(({ name }) => name).sort());
    for (const { operation, routes, fields, errors } of entries) {
      expect(routes).toEqual([operation, ...(operation.aliases ?? [])].map(({ method, path }) => `${method} ${path}`));
      expect(fields.map(({ name }) => name)).toEqual(Object.keys(operation.input.shape));
      expect(errors).toEqual(operation.errors);
    }
  });

  test.each(operationList)("the example of $name is accepted by its schema", (operation) => {
    const inPath = Object.fromEntries(pathFields(operation.path).map((name) => [name, ID]));
    expect(operation.input.safeParse({ ...exampleBody(operation), ...inPath }).error?.issues).toBeUndefined();
  });

  test("says what a field may hold, in words", () => {
    const entry = (name: string) =>
      reference.sections.flatMap(({ entries }) => entries).find(({ operation }) => operation.name === name);
    const field = (operation: string, name: string) => entry(operation)?.fields.find((each) => each.name === name);
    expect(field("claim_next_task", "wait_seconds")).toMatchObject({
      where: "body",
      type: "integer 0..60",
      required: false,
    });
    expect(field("list_tasks", "limit")).toMatchObject({ where: "query", type: "integer 1..1000", fallback: "100" });
    expect(field("get_task", "task_id")).toMatchObject({ where: "path", type: "id", required: true });
    expect(field("complete_task", "result")).toMatchObject({ type: "any JSON" });
    expect(entry("heartbeat_task")?.answer).toBe("Task, with notices");
    expect(entry("list_tasks")?.answer).toBe("array of Task");
  });

  test("as Markdown has every operation, record and error, and is the same each time", () => {
    const text = renderMarkdown();
    for (const { name } of operationList) expect(text).toContain(`\n### ${name}\n`);
    for (const name of Object.keys(RECORDS)) expect(text).toContain(`\n### ${name}\n`);
    for (const code of ERROR_CODES)
      expect(text).toContain(`| \`${code}\` | ${ERRORS[code].status} | ${ERRORS[code].exit} |`);
    expect(renderMarkdown()).toBe(text);
  });

  test("as a page needs no script, no inline style and nothing from elsewhere", async () => {
    await using stub = await StubHttp.start();
    const page = await stub.send("GET", "/docs", { headers: { "x-agent-key": undefined } });
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
    });
    expect(page.text).not.toMatch(/<script|<style|style=|\son\w+=|https?:\/\/(?!example\.com)/);
    for (const { name } of operationList) expect(page.text).toContain(`<h3 id="${name}">`);
    const targets = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of page.text.matchAll(/href="#([^"]+)"/g)) expect(targets).toContain(target);
    expect((await stub.send("GET", "/docs/style.css")).headers["content-type"]).toBe("text/css; charset=utf-8");
  });
});

describe("the OpenAPI document", () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of a hundred shapes
  const document = buildOpenApi() as any;

  test("is served as 3.1 under both bases without a key", async () => {
    await using stub = await StubHttp.start();
    for (const base of ["/v1", "/api"]) {
      const answer = await stub.send("GET", `${base}/openapi.json`, { headers: { "x-agent-key": undefined } });
      expect(answer.json).toEqual(JSON.parse(JSON.stringify(document)));
      expect(answer.json.openapi).toBe("3.1.0");
    }
  });

  test("has every route of every operation, each under a name of its own", () => {
    const ids = new Set<string>();
    for (const operation of operationList) {
      for (const { method, path } of [operation, ...(operation.aliases ?? [])]) {
        const found = document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
        expect(found, `${method} ${path}`).toBeDefined();
        ids.add(found.operationId);
        const inPath = found.parameters.filter((parameter: { in?: string }) => parameter.in === "path");
        expect(inPath.map((parameter: { name: string }) => parameter.name)).toEqual(pathFields(path));
      }
    }
    const routes = operationList.reduce((count, { aliases = [] }) => count + 1 + aliases.length, 0);
    expect(ids.size).toBe(routes);
  });

  test("says for each call which refusals come with which status", () => {
    const claim = document.paths["/v1/tasks/{task_id}/claim"].post.responses;
    expect(Object.keys(claim)).toEqual(
      expect.arrayContaining(["200", "400", "401", "404", "409", "429", "500", "503"]),
    );
    const named = claim["409"].content["application/problem+json"].schema.oneOf.map(({ $ref }: JsonSchema) => $ref);
    expect(named).toContain("#/components/schemas/Problem_task_claimed");
    const held = document.components.schemas.Problem_task_claimed;
    expect(held.properties).toMatchObject({ status: { const: 409 }, code: { const: "task_claimed" } });
    expect(Object.keys(held.properties)).toEqual(expect.arrayContaining(["holder", "next", "detail", "error"]));
  });

  test("says where a success may be a request that somebody else has yet to follow: cancel, while it is held; or a place in line", () => {
    const withRequests = Object.values<object>(document.paths).flatMap((path) =>
      Object.values(path).filter(({ responses }) => "202" in responses),
    );
    expect(withRequests.map(({ operationId }) => operationId)).toEqual(["cancel_task", "claim_scopes"]);
    const { 200: done, 202: asked } = withRequests[0].responses;
    expect(asked.content).toEqual(done.content);
    expect(asked.description).toMatch(/^A request: while somebody else holds the task/);
    expect(renderMarkdown()).toContain("Answers 200, or 202 (while somebody else holds the task");
  });

  test("points nowhere that isn't there", () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string);
    expect(refs.length).toBeGreaterThan(100);
    for (const ref of new Set(refs)) {
      const found = ref
        .slice(2)
        .split("/")
        .reduce((at, part) => at?.[part], document);
      expect(found, ref).toBeDefined();
    }
  });

  test("the only schema that refers to itself, and so is shortened, is that of any JSON", () => {
    for (const { input, output } of operationList) {
      for (const [schema, io] of [
        [input, "input"],
        [output, "output"],
      ] as const) {
        expect(JSON.stringify(jsonSchema(schema, io))).not.toContain("$defs");
      }
    }
    const json = JSON.stringify(jsonSchema(RECORDS.Task, "output"));
    expect(json).not.toContain("__schema");
  });
});
