import { Dibs, isDibsError } from "dibs/client";
import { type OperationName, type Operations, operations } from "dibs/contract";
import type { Asking, Entrance, Heard, Surface } from "./surface.js";
import type { World } from "./world.js";

/** Plain `fetch`, under either of the two bases and with either of the two headers for keys. */
export function rest(base: "/v1" | "/api"): Entrance {
  return { name: `REST under ${base}`, open: (world) => restOf(world, base) };
}

function restOf(world: World, base: "/v1" | "/api"): Surface {
  return {
    async ask({ operation, input, as, session, ifVersion, idempotencyKey }) {
      const { method, path } = operations[operation];
      const rest: Record<string, unknown> = { ...input };
      const filled = path.replace(/^\/v1/, base).replace(/:(\w+)/g, (_part, field: string) => {
        const value = encodeURIComponent(String(rest[field]));
        delete rest[field];
        return value;
      });
      const inQuery = method === "GET" || method === "DELETE";
      const headers: Record<string, string> = {
        ...(base === "/v1" ? { authorization: `Bearer ${as.key}` } : { "x-agent-key": as.key }),
        ...(session === undefined ? {} : { "x-dibs-session": session }),
        ...(ifVersion === undefined ? {} : { "if-match": `"${ifVersion}"` }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...(inQuery ? {} : { "content-type": "application/json" }),
      };
      const url = `${world.url}${filled}${inQuery ? queryOf(rest) : ""}`;
      return heardOf(await fetch(url, { method, headers, body: inQuery ? null : JSON.stringify(rest) }));
    },
    close: async () => undefined,
  };
}

function queryOf(fields: Record<string, unknown>): string {
  const pairs = Object.entries(fields).flatMap(([field, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [field, String(each)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

/** An answer to `fetch`, with the type and the code it has to have. */
export async function heardOf(response: Response): Promise<Heard> {
  const text = await response.text();
  const type = response.headers.get("content-type")?.split(";")[0];
  if (type !== (response.ok ? "application/json" : "application/problem+json")) {
    throw new Error(`${response.status} came as ${type}: ${text.slice(0, 300)}`);
  }
  const body = JSON.parse(text) as { code?: string };
  const cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get("link") ?? "")?.[1];
  return {
    code: response.ok ? "ok" : String(body.code),
    body,
    status: response.status,
    cursor: cursor === undefined ? undefined : decodeURIComponent(cursor),
  };
}

/** The TypeScript client. */
export const client: Entrance = {
  name: "the client",
  open: (world) => ({
    async ask(asking) {
      try {
        return await askedOf(world, asking);
      } catch (error) {
        if (!isDibsError(error)) throw error;
        return { code: error.code, body: error.toProblem(), status: error.status };
      }
    },
    close: async () => undefined,
  }),
};

async function askedOf(world: World, asking: Asking): Promise<Heard> {
  const { operation, input, as, session, ifVersion, idempotencyKey } = asking;
  const dibs = new Dibs({ url: world.url, key: as.key, ...(session === undefined ? {} : { session }) });
  const options = {
    ...(ifVersion === undefined ? {} : { ifVersion }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  const answer = await dibs.call(operation as OperationName & keyof Operations, input as never, options);
  return { code: "ok", body: answer.body, status: answer.status, cursor: answer.nextCursor };
}
