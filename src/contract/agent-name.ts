const PLAIN = "A-Za-z0-9._-";
const LENGTH_MAX = 64;

/** What an agent may be called, wherever it is named: it stands in commands, addresses and logs as it is. */
export const AGENT_NAME = new RegExp(`^[${PLAIN}]{1,${LENGTH_MAX}}$`);
export const AGENT_NAME_RULE = `must be 1..${LENGTH_MAX} of letters, digits, dot, underscore, hyphen`;

/** The name that comes nearest to any other, as a user's; empty where that is. */
export function nearestAgentName(name: string): string {
  return name.replace(new RegExp(`[^${PLAIN}]`, "g"), "_").slice(0, LENGTH_MAX);
}
