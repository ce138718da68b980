import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { DibsError } from "../contract/errors.js";
import { isOwnFetch, isSafeMethod } from "./guards.js";
import type { Credential } from "./settings.js";

export const CONSOLE_COOKIE = "dibs_console";

/**
 * Who the request says it is: `Authorization: Bearer KEY`, else `X-Agent-Key: KEY`, else the console's cookie.
 * Never anything from the URL or the body. Throws `forbidden` for a cookie that another site's page may have sent
 * along: a browser adds it by itself, so it counts only where the browser vouches for the page.
 */
export function credentialOf(request: IncomingMessage): Credential | undefined {
  const { headers } = request;
  const key = bearer(headers.authorization) ?? one(headers["x-agent-key"]);
  if (key !== undefined && key !== "") return { kind: "key", key: asSent(key) };
  const token = headers.cookie === undefined ? undefined : cookieNamed(headers.cookie, CONSOLE_COOKIE);
  if (token === undefined || token === "") return undefined;
  if (!isOwnFetch(headers)) throw new DibsError("forbidden", "A page of another site may not use the console.", {});
  if (!isSafeMethod(request.method) && headers.origin === undefined && headers["sec-fetch-site"] !== "same-origin") {
    throw new DibsError(
      "forbidden",
      "A console sign-in can change things only from the console's own page (the request has neither Origin nor Sec-Fetch-Site: same-origin). Programs send a key.",
      {},
    );
  }
  return { kind: "cookie", token };
}

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return authorization.slice(7).trim();
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}

/** Node reads header bytes as Latin-1; a key may be any text, which programs send as UTF-8. */
function asSent(key: string): string {
  if (!/[\x80-\xff]/.test(key)) return key;
  const bytes = Buffer.from(key, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : key;
}

function cookieNamed(header: string, name: string): string | undefined {
  for (const part of header.split(";")) {
    const equals = part.indexOf("=");
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}
