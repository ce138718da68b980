// A worker of its own process that claims over HTTP: once at each common instant it is told.
import { Agent, request } from "node:http";

const [url, key] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

function post(path, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request(url + path, { method: "POST", headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

process.on("message", async ({ atMs }) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, atMs - Date.now()));
  const lateMs = Date.now() - atMs;
  const startedAt = performance.now();
  try {
    const { status, body } = await post("/v1/tasks/claim", {});
    process.send({ status, task: body.task, error: body.code, tookMs: performance.now() - startedAt, lateMs });
  } catch (fault) {
    process.send({ status: 0, error: String(fault), tookMs: performance.now() - startedAt, lateMs });
  }
});
process.on("disconnect", () => process.exit(0));
process.send("ready");
