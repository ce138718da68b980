import { readConfig } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { version } from "../package.js";
import { connect } from "./connect.js";
import { failureOf } from "./failure.js";
import type { Output } from "./output.js";

/** Serves MCP on stdin and stdout until the client is gone. */
export async function mcp(session: string | undefined, output: Output): Promise<number> {
  const config = readConfig();
  const connection = await connect(config, { lasting: true });
  try {
    const { serveMcpStdio } = await import("../mcp/stdio.js");
    const sessionId = session ?? config.session;
    await serveMcpStdio({
      call: connection.call,
      identity: connection.identity,
      version: version(),
      ...(sessionId ? { sessionId } : {}),
      onFault: (fault) => output.say(failureOf(fault).error.message),
    });
    return EXIT.ok;
  } finally {
    await connection.close();
  }
}
