import type { Socket } from "node:net";
import { DibsError, invalidInput } from "../contract/errors.js";
import { BASE_HEADERS, PROBLEM_TYPE, timeText } from "./headers.js";

/**
 * Answers what never became a request (bytes that aren't HTTP, headers too large, a head that doesn't come) with a
 * problem, and closes the connection.
 */
export function connectionFault(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = faultOf(error.code);
  const body = JSON.stringify(problem.toProblem());
  const headers = {
    ...BASE_HEADERS,
    "content-type": PROBLEM_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    "server-now": timeText(Date.now()),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} \r\n${head.join("")}\r\n${body}`);
}

function faultOf(code: string | undefined): DibsError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new DibsError("too_large", "The request's headers are too large. Fields belong in the body.", {
        limit: 16_384,
      });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return invalidInput("(request)", "did not arrive whole in 30 seconds; send it again");
    default:
      return invalidInput("(request)", "is not HTTP/1.1");
  }
}
