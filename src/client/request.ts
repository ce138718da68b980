import { invalidInput } from "../contract/errors.js";
import type { Operation } from "../contract/operation.js";

/** Where an operation's call goes and what it carries, without the server's address. */
interface Request {
  readonly method: string;
  /** Path with query, beginning with `/v1`. */
  readonly path: string;
  /** JSON text; reads and deletions carry their input in the query. */
  readonly body: string | undefined;
}

/** Puts an input where the operation's route wants it. Throws `invalid_input` when a part of the path is missing. */
export function requestFor(operation: Operation, input: Readonly<Record<string, unknown>>): Request {
  const rest = { ...input };
  const path = operation.path.replace(/:(\w+)/g, (_whole, field: string) => {
    const part = pathPart(operation, field, rest[field]);
    delete rest[field];
    return part;
  });
  const inQuery = operation.method === "GET" || operation.method === "DELETE";
  if (!inQuery) return { method: operation.method, path, body: JSON.stringify(rest) };
  const query = queryText(rest);
  return { method: operation.method, path: query === "" ? path : `${path}?${query}`, body: undefined };
}

function pathPart(operation: Operation, field: string, value: unknown): string {
  // An empty part or a dot would be another route (URLs resolve dots even when they are encoded).
  if (typeof value !== "string" || value === "" || value === "." || value === "..") {
    const checked = operation.input.shape[field]?.safeParse(value);
    throw invalidInput(field, checked?.error?.issues[0]?.message ?? "must be text");
  }
  return encodeURIComponent(value);
}

function queryText(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(field, String(one));
  }
  return query.toString();
}
