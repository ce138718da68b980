// A worker of its own process: claims one task, then, when told, tries everything a holder may do with it.
const [url, key] = process.argv.slice(2);

async function post(path, body, session) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  if (session !== undefined) headers["x-dibs-session"] = session;
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

const session = (await post("/v1/sessions", { client: "holder" })).body.id;
const { task } = (await post("/v1/tasks/claim", { lease_seconds: 1 }, session)).body;
const proof = { lease_id: task.lease_id, fence: task.fence };

process.on("message", async () => {
  const tries = {
    heartbeat: proof,
    state: { ...proof, state: "working" },
    complete: { ...proof, result: "late" },
    release: proof,
    fail: { ...proof, reason: "late" },
    cancel: proof,
  };
  const answers = {};
  for (const [action, body] of Object.entries(tries)) {
    answers[action] = await post(`/v1/tasks/${task.id}/${action}`, body, session);
    // As older clients do: without saying which lease they mean.
    const { lease_id: _lease, fence: _fence, ...bare } = body;
    if (action !== "cancel")
      answers[`${action}, no lease named`] = await post(`/v1/tasks/${task.id}/${action}`, bare, session);
  }
  process.send(answers);
  process.disconnect();
});
process.send({ task, session });
