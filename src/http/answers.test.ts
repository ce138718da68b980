import { describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";

const ID = "0123456789abcdef0123456789abcdef";

describe("an answer", () => {
  test("is the engine's text, byte for byte, with its status and its clock", async () => {
    const text = '{"b":1 ,"a":"é\\u202e"}';
    const stub = await StubHttp.forTest({ answer: () => ({ text, status: 202, serverNowMs: 1_700_000_000_007 }) });
    const answer = await stub.send("POST", `/v1/tasks/${ID}/cancel`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 202, text });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["server-now"]).toBe("2023-11-14T22:13:20.007Z");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers).not.toHaveProperty("link");
    expect(answer.headers).not.toHaveProperty("dibs-notices");
    expect(answer.headers).not.toHaveProperty("idempotency-replayed");
  });

  test("says in headers what is no part of the record: notices, replay, next page", async () => {
    const stub = await StubHttp.forTest({
      answer: () => ({ text: "[]", notices: 3, replayed: true, nextCursor: "c+1/=" }),
    });
    const { headers } = await stub.send("GET", "/api/tasks?label=a%20b&cursor=old&limit=5");
    expect(headers["dibs-notices"]).toBe("3");
    expect(headers["idempotency-replayed"]).toBe("true");
    expect(headers.link).toBe('</api/tasks?label=a+b&cursor=c%2B1%2F%3D&limit=5>; rel="next"');
  });

  test("a task carries its version as ETag, and nothing else is taken for one", async () => {
    const texts = ['{"id":"x","version":7}', '{"result":{"version":8}}', '{"version":9,"id":"x"}'];
    const stub = await StubHttp.forTest({ answer: () => ({ text: texts.shift() as string }) });
    const tags = [];
    for (let count = 0; count < 3; count += 1) tags.push((await stub.send("GET", `/v1/tasks/${ID}`)).headers.etag);
    expect(tags).toEqual(['"7"', undefined, undefined]);
  });

  test("to HEAD has the headers of GET and no body", async () => {
    const stub = await StubHttp.forTest({ answer: () => ({ text: '{"a":1}' }) });
    const answer = await stub.send("HEAD", `/v1/tasks/${ID}`);
    expect({ status: answer.status, text: answer.text, length: answer.headers["content-length"] }).toEqual({
      status: 200,
      text: "",
      length: "7",
    });
  });
});
