import type { z } from "zod";
import { id } from "../contract/fields.js";
import { type Fields, isOptional } from "./field-kinds.js";
import type { Front, Tool } from "./tools.js";

/** Every tool takes the caller's session; without it the key's own, or the bridge's. */
export const sessionIdField = id("your session").optional();

/** The parameters of a tool by name: its own, then those of the operations it fronts, then `session_id`. */
export function fieldsOf(tool: Tool): Fields {
  const fields: Record<string, z.ZodType> = { ...tool.own };
  for (const front of tool.fronts) {
    for (const [name, schema] of Object.entries(offeredBy(front))) {
      const everywhere = tool.fronts.every((other) => Object.hasOwn(offeredBy(other), name));
      fields[name] ??= everywhere || isOptional(schema) ? schema : schema.optional();
    }
  }
  return { ...fields, session_id: sessionIdField };
}

/** The fields of the front's operation, by the tool's names. The session is every tool's, not a field of one. */
export function offeredBy(front: Front): Fields {
  const toolName = new Map(Object.entries(front.names ?? {}).map(([ours, theirs]) => [theirs, ours]));
  const offered: [string, z.ZodType][] = [];
  for (const [name, schema] of Object.entries(front.operation.input.shape as Record<string, z.ZodType>)) {
    const ours = toolName.get(name) ?? name;
    // What is named by its id is of the project it is of.
    const known = ours === "session_id" || (name === "project_id" && front.operation.path.includes(":"));
    const left = front.without?.includes(name) || Object.hasOwn(front.means ?? {}, name);
    if (!known && !left) offered.push([ours, schema]);
  }
  return Object.fromEntries(offered);
}
