import { TOOLS } from "./tools.js";

/**
 * Whether a JSON-RPC message is a tool's call that stands for a heartbeat, for whoever counts those apart. A list of
 * messages is none: it may hold anything beside.
 */
export function isHeartbeatCall(message: unknown): boolean {
  const { method, params } = members(message);
  if (method !== "tools/call") return false;
  const { name, arguments: given } = members(params);
  const tool = TOOLS.find((each) => each.name === name);
  const args = members(given);
  return tool?.fronts.find((front) => front.when(args))?.operation.heartbeat === true;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
