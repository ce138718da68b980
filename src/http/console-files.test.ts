import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RawAnswer, StubHttp } from "../../test/support/stub-http.js";
import { PAGE_POLICY } from "./headers.js";

let root: string;
let stub: StubHttp;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "dibs-console-"));
  const dir = join(root, "dist");
  mkdirSync(join(dir, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
  writeFileSync(join(dir, "index.html"), "<!doctype html><title>console</title>");
  writeFileSync(join(dir, "assets", "index-Ab_1-2.js"), "run()");
  writeFileSync(join(dir, "assets", "index-Cd34.css"), "body{}");
  symlinkSync(join(root, "secret.txt"), join(dir, "link.txt"));
  stub = await StubHttp.start({ consoleDir: dir });
});
afterAll(async () => {
  await stub[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const get = (path: string, headers = {}): Promise<RawAnswer> =>
  stub.send("GET", path, { headers: { "x-agent-key": undefined, ...headers } });

describe("the console's files", () => {
  test("are served without a key, under the page's policy", async () => {
    const page = await get("/");
    expect(page).toMatchObject({ status: 200, text: "<!doctype html><title>console</title>" });
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
      "cache-control": "no-cache",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    });
    expect((await get("/assets/index-Ab_1-2.js")).headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect((await get("/assets/index-Cd34.css")).headers["content-type"]).toBe("text/css; charset=utf-8");
  });

  test("with a hash in their names are kept for ever, the page is asked for anew", async () => {
    const asset = await get("/assets/index-Ab_1-2.js");
    expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const { etag } = (await get("/")).headers;
    const again = await get("/", { "if-none-match": etag });
    expect(again).toMatchObject({ status: 304, text: "" });
    expect(again.headers["content-security-policy"]).toBe(PAGE_POLICY);
  });

  test.each([
    "/../secret.txt",
    "/assets/../../secret.txt",
    "/assets/..%2F..%2Fsecret.txt",
    "/%2e%2e/secret.txt",
    "/..%5csecret.txt",
    "//secret.txt",
    "/link.txt",
    "/assets",
    "/assets/",
    "/index.html/",
    "/assets%2Findex-Ab_1-2.js",
  ])("%s is no route: nothing beside the build's own files is reached", async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("secret.txt");
    expect((await stub.send("GET", path)).status).toBe(404);
  });
});

test("without a build the page says how to make one, and the rest works", async () => {
  await using bare = await StubHttp.start({ consoleDir: join(root, "nothing") });
  const page = await bare.send("GET", "/", { headers: { "x-agent-key": undefined } });
  expect(page.status).toBe(503);
  expect(page.text).toContain("npm run build");
  expect(page.headers["content-security-policy"]).toBe(PAGE_POLICY);
  expect((await bare.send("GET", "/v1/tasks")).status).toBe(200);
});
