import type { ServerResponse } from "node:http";

/**
 * A signal that aborts when the client is gone before the whole answer was handed to the network, also when that
 * happened already. It never aborts after a complete answer.
 */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const check = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed || response.destroyed) check();
  else response.once("close", check);
  return controller.signal;
}
