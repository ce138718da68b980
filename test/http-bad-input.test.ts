import { operationList } from "dibs/contract";
import { beforeAll, describe, expect, test } from "vitest";
import { requiredBody, ServedHttp, UNKNOWN } from "./support/served-http.js";
import type { RawAnswer } from "./support/stub-http.js";

const http = ServedHttp.forFile();
const { send } = http;

describe("bad input gets a problem that names the field and the limit, and changes nothing", () => {
  let taskId: string;
  beforeAll(async () => {
    taskId = (await send("POST", "/v1/tasks", { content: "a task" })).json.id;
  });

  const lease = (seconds: unknown) => ["POST", "/v1/tasks/claim", { lease_seconds: seconds }] as const;
  const task = (fields: object) => ["POST", "/v1/tasks", { content: "x", ...fields }] as const;
  const cases: Record<string, [readonly [string, string, unknown?], number, string, RegExp]> = {
    "malformed JSON": [["POST", "/v1/tasks", '{"content":'], 400, "invalid_input", /position 11/],
    "a list for a body": [["POST", "/v1/tasks", "[]"], 400, "invalid_input", /object/],
    "a lease of 29 s": [lease(29), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of 3601 s": [lease(3601), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of 0 s (C79)": [lease(0), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of -5 s (C79)": [lease(-5), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of half a second more (C79)": [lease(300.5), 400, "invalid_input", /lease_seconds.*whole number/],
    'a lease of "300" (C79)': [lease("300"), 400, "invalid_input", /lease_seconds.*whole number/],
    "a lease of 1e12 s (C79)": [lease(1e12), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease beyond all numbers (C79)": [
      ["POST", "/v1/tasks/claim", '{"lease_seconds":1e999}'],
      400,
      "invalid_input",
      /lease_seconds/,
    ],
    "an unknown field (C71)": [task({ agent: "A" }), 400, "invalid_input", /agent/],
    "an unknown field on a claim (C71)": [
      ["POST", "/v1/tasks/claim", { agent_id: UNKNOWN }],
      400,
      "invalid_input",
      /agent_id/,
    ],
    "an unknown field in the query": [["GET", "/v1/tasks?statsu=open"], 400, "invalid_input", /statsu/],
    "a number for a title": [task({ content: 5 }), 400, "invalid_input", /content/],
    "text for a list": [task({ labels: "a" }), 400, "invalid_input", /labels.*list/],
    "no title": [["POST", "/v1/tasks"], 400, "invalid_input", /content.*required/],
    "an empty title": [task({ content: "" }), 400, "invalid_input", /content/],
    "a title of control characters": [
      task({ content: "\u0007\u001b\u0085" }),
      400,
      "invalid_input",
      /content.*visible/,
    ],
    "a title of zero-width characters (C82)": [
      task({ content: "\u200b\u2060" }),
      400,
      "invalid_input",
      /content.*visible/,
    ],
    "a title of 2,001 characters": [task({ content: "x".repeat(2001) }), 400, "invalid_input", /content.*2000/],
    "NUL in a title (R60)": [task({ content: "a\0b" }), 400, "invalid_input", /content.*NUL/],
    "NUL deep in a context (R60)": [
      task({ context: { a: [{ b: "\0" }] } }),
      400,
      "invalid_input",
      /context\.a\.0\.b.*NUL/,
    ],
    "a lone surrogate (R60, C80)": [
      ["POST", "/v1/tasks", '{"content":"a\\ud800b"}'],
      400,
      "invalid_input",
      /content.*surrogate/,
    ],
    "a lone surrogate as a key (R60)": [
      ["POST", "/v1/tasks", '{"content":"a","context":{"\\udfff":1}}'],
      400,
      "invalid_input",
      /surrogate/,
    ],
    "nesting of 33 levels": [
      ["POST", "/v1/tasks", `{"content":"x","context":{"a":${"[".repeat(31)}${"]".repeat(31)}}}`],
      400,
      "invalid_input",
      /32 levels/,
    ],
    "a key that names a prototype": [
      ["POST", "/v1/tasks", '{"content":"x","__proto__":{"priority":4}}'],
      400,
      "invalid_input",
      /__proto__/,
    ],
    "a body of 2 MiB (C76)": [task({ description: "x".repeat(2_097_152) }), 413, "too_large", /DIBS_BODY_LIMIT/],
    "1,001 labels (R49)": [
      task({ labels: Array.from({ length: 1001 }, (_, at) => `l${at}`) }),
      400,
      "invalid_input",
      /labels.*1,000/,
    ],
    "a priority of 5": [task({ priority: 5 }), 400, "invalid_input", /priority.*1\.\.4/],
    "a time without a zone": [task({ not_before: "2026-01-31T12:00:00" }), 400, "invalid_input", /not_before.*zone/],
    "a limit of 0": [["GET", "/v1/tasks?limit=0"], 400, "invalid_input", /limit.*1\.\.1000/],
    "a limit in words": [["GET", "/v1/tasks?limit=ten"], 400, "invalid_input", /limit/],
    "a cursor of one's own": [["GET", "/v1/tasks?cursor=abc"], 400, "invalid_cursor", /cursor/],
    "an id that is none": [["GET", "/v1/tasks/42"], 400, "invalid_input", /task_id.*32 hexadecimal/],
    "an unknown id": [["POST", `/v1/tasks/${UNKNOWN}/claim`], 404, "not_found", /./],
    "an unknown project": [["GET", "/v1/tasks?project_id=nowhere"], 404, "not_found", /./],
    "a batch with one wrong task": [
      ["POST", "/v1/tasks/batch", { tasks: [{ content: "good" }, { content: "" }] }],
      400,
      "invalid_input",
      /tasks\.1\.content/,
    ],
  };

  test.each(Object.entries(cases))("%s", async (_what, [[method, path, body], status, code, words]) => {
    const before = await http.everything();
    const answer = await send(
      method,
      path,
      body,
      typeof body === "string" ? { "content-type": "application/json" } : {},
    );
    expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code });
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.json.detail).toMatch(words);
    expect(answer.json.error).toBe(answer.json.detail);
    if (code === "invalid_input") expect(answer.json.fields[0].message).toBeTruthy();
    expect(await http.everything()).toBe(before);
  });

  test("a malformed If-Match is refused, a stale one too, and a good one is honoured", async () => {
    const path = `/v1/tasks/${taskId}`;
    const { etag } = (await send("GET", path)).headers;
    expect(etag).toMatch(/^"\d+"$/);
    expect((await send("PATCH", path, { priority: 3 }, { "if-match": "1" })).json.code).toBe("invalid_input");
    expect((await send("PATCH", path, { priority: 3 }, { "if-match": '"999"' })).json.code).toBe("version_mismatch");
    const changed = await send("PATCH", path, { priority: 3 }, { "if-match": etag });
    expect(changed.json.priority).toBe(3);
    expect(changed.headers.etag).toBe(`"${changed.json.version}"`);
    expect(changed.headers.etag).not.toBe(etag);
  });

  test("another workspace's ids answer exactly like unknown ones (R47)", async () => {
    for (const { method, path, input } of operationList) {
      if (!path.includes(":task_id")) continue;
      const body = method === "GET" || method === "DELETE" ? undefined : requiredBody(input.shape);
      const [theirs, nobodys] = await Promise.all(
        [http.foreignTaskId, UNKNOWN].map((id) => {
          const at = path.replace(":task_id", id).replace(/:\w+/, UNKNOWN);
          return send(method, at, body);
        }),
      );
      expect(theirs?.status, `${method} ${path}`).toBe(404);
      const same = (answer: RawAnswer | undefined, id: string) => answer?.text.replaceAll(id, "ID");
      expect(same(theirs, http.foreignTaskId)).toBe(same(nobodys, UNKNOWN));
    }
  });
});
