import type { ServerResponse } from "node:http";

/**
 * A signal that aborts when the client is gone before the whole answer was handed to the network, also when that
 * happened already. It never aborts after a complete answer. To be asked for before the answer is sent.
 */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response;
  if (socket === null || socket.destroyed) {
    controller.abort();
    return controller.signal;
  }
  let taken = false;
  response.once("finish", () => {
    // An answer cut off by the client's going "finishes" too, as its writes fail.
    taken = !socket.destroyed;
  });
  response.once("close", () => {
    if (!taken) controller.abort();
  });
  return controller.signal;
}
