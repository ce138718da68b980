import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { DibsError, invalidInput } from "../contract/errors.js";
import type { HttpSettings } from "./settings.js";

/** Refuses a request by throwing a `DibsError`; looks at nothing but its head. */
export type Guard = (request: IncomingMessage) => void;

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARD = new Set(["0.0.0.0", "::", "[::]", ""]);

/**
 * The guards every request passes before any route is looked at, in this order: host, origin, fetch metadata,
 * media type. A web page in the user's browser can reach a server on loopback; these make sure that only our own
 * page gets anywhere, also after DNS rebinding. None of them is a credential.
 */
export function createGuards(settings: HttpSettings): readonly Guard[] {
  const hosts = allowedHosts(settings);
  return [hostGuard(hosts), originGuard(settings.allowedHosts), fetchSiteGuard, mediaTypeGuard];
}

function allowedHosts(settings: HttpSettings): ReadonlySet<string> {
  const bound = settings.host.toLowerCase();
  const own = WILDCARD.has(bound) ? [] : [bound.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound];
  return new Set([...LOOPBACK, ...own, ...settings.allowedHosts.map((host) => host.toLowerCase())]);
}

// A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. Nothing else is a host.
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/;

function hostGuard(hosts: ReadonlySet<string>): Guard {
  // Most requests name one of few hosts: what was found good need not be taken apart again.
  const good = new Set<string>();
  return (request) => {
    const sent = request.headers.host ?? "";
    if (good.has(sent)) return;
    const host = sent.toLowerCase();
    const parts = HOST.exec(host);
    if (parts !== null && (hosts.has(parts[1] as string) || hosts.has(host))) {
      if (good.size < 100) good.add(sent);
      return;
    }
    throw new DibsError(
      "forbidden",
      `This server does not answer to the host name ${quoted(host)}. Call it as localhost, or add the name to DIBS_ALLOWED_HOSTS.`,
      {},
    );
  };
}

function originGuard(configured: readonly string[]): Guard {
  const trusted = new Set(configured.map((host) => withoutDefaultPort(host.toLowerCase())));
  return (request) => {
    const origin = request.headers.origin;
    if (origin === undefined) return;
    const parts = /^(https?):\/\/([^/]+)$/i.exec(origin);
    if (parts !== null) {
      const host = withoutDefaultPort((parts[2] as string).toLowerCase(), parts[1]);
      if (host === withoutDefaultPort(request.headers.host?.toLowerCase() ?? "", parts[1]) || trusted.has(host)) return;
    }
    throw new DibsError(
      "forbidden",
      `A page of the origin ${quoted(origin)} may not call this server. Only its own pages may; other programs send no Origin header.`,
      {},
    );
  };
}

function withoutDefaultPort(host: string, scheme = "https"): string {
  return host.replace(scheme.toLowerCase() === "http" ? /:80$/ : /:443$/, "");
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export function isSafeMethod(method: string | undefined): boolean {
  return method !== undefined && SAFE_METHODS.has(method);
}

/** Whether fetch metadata, where the browser sends it, says that our own page or the user made the request. */
export function isOwnFetch(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

const fetchSiteGuard: Guard = (request) => {
  if (isSafeMethod(request.method) || isOwnFetch(request.headers)) return;
  throw new DibsError("forbidden", "A page of another site may not change anything here (Sec-Fetch-Site).", {});
};

/** Whether the head announces a body; a chunked one may still turn out empty. */
function announcesBody(headers: IncomingHttpHeaders): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

const mediaTypeGuard: Guard = (request) => {
  const { headers } = request;
  if (!announcesBody(headers)) {
    // `curl -d ''` announces a form of no bytes. What isn't there has no type.
    if (headers["content-type"] !== undefined) headers["content-type"] = undefined;
    return;
  }
  if (request.method === "GET" || request.method === "HEAD") {
    throw invalidInput("(body)", "must be absent on a GET; its fields go in the query string");
  }
  // A chunked body without a type may be empty; the parser of bodies judges that one.
  if (headers["content-type"] === undefined && headers["transfer-encoding"] !== undefined) return;
  if (!isJson(headers["content-type"])) throw unsupportedMediaType(headers["content-type"]);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") throw unsupportedMediaType(`it in ${encoding}`);
};

// `application/json`, with no parameter but the one charset JSON has.
const JSON_TYPE = /^application\/json[\t ]*(;[\t ]*charset[\t ]*=[\t ]*"?utf-?8"?[\t ]*)?;?$/i;

function isJson(contentType: string | undefined): boolean {
  return contentType === "application/json" || (contentType !== undefined && JSON_TYPE.test(contentType.trim()));
}

export function unsupportedMediaType(found: string | undefined): DibsError {
  const seen = found === undefined ? "a body without a Content-Type" : quoted(found);
  return new DibsError(
    "unsupported_media_type",
    `Bodies are UTF-8 JSON, sent as they are with Content-Type: application/json; this was ${seen}.`,
    {},
  );
}

/** What a header said, short enough and plain enough to be repeated in an error. */
function quoted(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, "?");
  return `"${plain.length > 100 ? `${plain.slice(0, 100)}…` : plain}"`;
}
