import type { Dibs } from "../../client/dibs.js";
import type { CommandRow } from "./commands.js";

type Row = Readonly<Record<string, unknown>>;

/**
 * The answer with `project`, its key, in each claim, where claims of several projects are in it: path:src of one says nothing
 * of path:src of another.
 */
export async function withProjects(dibs: Dibs, row: CommandRow, body: unknown): Promise<unknown> {
  if (row.operation === "get_presence") {
    const presence = body as { readonly sessions: readonly (Row & { readonly claims: readonly Row[] })[] };
    const keys = await keysOf(
      dibs,
      presence.sessions.flatMap(({ claims }) => claims),
    );
    const named = presence.sessions.map((session) => ({ ...session, claims: session.claims.map(naming(keys)) }));
    return keys ? { ...presence, sessions: named } : body;
  }
  if (row.rows !== "claim" || !Array.isArray(body)) return body;
  const keys = await keysOf(dibs, body);
  return keys ? body.map(naming(keys)) : body;
}

async function keysOf(dibs: Dibs, claims: readonly Row[]): Promise<ReadonlyMap<unknown, string> | undefined> {
  if (new Set(claims.map(({ project_id }) => project_id)).size < 2) return undefined;
  const keys = new Map<unknown, string>();
  for await (const { id, key } of dibs.each("list_projects", { limit: 1000 })) keys.set(id, key);
  return keys;
}

const naming = (keys: ReadonlyMap<unknown, string> | undefined) => (claim: Row) => ({
  ...claim,
  project: keys?.get(claim.project_id),
});
