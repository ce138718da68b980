/** How the visitor came to be signed in, or why not. */
export type Arrival = { state: "unchanged" | "signed-in" | "signed-out" } | { state: "refused"; reason: string };

/**
 * Exchanges the one-time code in the address (`/#code=…`) for the page's cookie. The code leaves the address bar
 * before anything is sent, so that it stays in no history and no screenshot. Never rejects.
 */
export async function arrive(): Promise<Arrival> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return { state: "unchanged" };
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const response = await fetch("/v1/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ code }),
      credentials: "same-origin",
      signal: AbortSignal.timeout(10_000),
    });
    // Read to the end in either case: a browser keeps an answer open until somebody has.
    const answer: unknown = await response.json().catch(() => undefined);
    return response.ok ? { state: "signed-in" } : { state: "refused", reason: reasonIn(answer, response.status) };
  } catch {
    return {
      state: "refused",
      reason: "The server did not answer. Is it running? The link still works when it is back.",
    };
  }
}

function reasonIn(problem: unknown, status: number): string {
  const detail = typeof problem === "object" && problem !== null && "detail" in problem ? problem.detail : undefined;
  return typeof detail === "string" ? detail : `The server answered with status ${status}.`;
}

/** Ends the sign-in on the server and in this browser. Throws when the server can't be reached. */
export async function signOut(): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("/v1/sign-out", { method: "POST", headers, body: "{}", credentials: "same-origin" });
  await response.text();
  if (!response.ok && response.status !== 401) throw new Error(`The server answered with status ${response.status}.`);
}
