// Preloaded into a child: loads what the program will need, says that it is ready, and holds it until a common instant.
await import("../../../dist/cli/command-line.js");
await import("../../../dist/cli/run-operation.js");
await import(process.env.DIBS_URL ? "../../../dist/client/index.js" : "../../../dist/index.js");

const atMs = await new Promise((resolve) => {
  process.once("message", (message) => resolve(message.atMs));
  process.send("ready");
});
process.disconnect();
// A blocked thread wakes at the instant itself; a timer would wait for its turn.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, atMs - Date.now()));
