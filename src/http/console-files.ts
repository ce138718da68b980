import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import type { FastifyInstance } from "fastify";
import { PAGE_POLICY, timeText } from "./headers.js";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Dibs</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build</code> where Dibs is installed, then start it again. Everything else works without it:
the reference is at <a href="/docs">/docs</a>.</p>
</html>
`;

/**
 * Serves the built console from memory, one route a file, all read here and now: a path that isn't one of them has
 * no route, so there is nothing to traverse. Without a build, `/` says how to make one (503).
 */
export function mountConsole(app: FastifyInstance, dir: string): void {
  const files = existsSync(join(dir, "index.html")) ? filesIn(dir) : [];
  for (const path of files) mountFile(app, dir, path);
  if (files.length > 0) return;
  app.get("/", { config: { open: true } }, (_request, reply) => {
    reply.code(503).header("content-type", TYPES[".html"]).header("content-security-policy", PAGE_POLICY);
    reply.header("server-now", timeText(Date.now())).send(NOT_BUILT);
  });
}

function filesIn(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

function mountFile(app: FastifyInstance, dir: string, path: string): void {
  if (!/^[\w./@~+-]+$/.test(path)) throw new Error(`The console has a file whose name no URL should hold: ${path}`);
  const body = readFileSync(join(dir, path));
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  const headers = {
    "content-type": TYPES[extname(path)] ?? "application/octet-stream",
    "content-security-policy": PAGE_POLICY,
    // The build puts a hash of the content into the names under assets/.
    "cache-control": path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    etag,
  };
  app.get(path === "index.html" ? "/" : `/${path}`, { config: { open: true } }, (request, reply) => {
    reply.headers(headers).header("server-now", timeText(Date.now()));
    if (request.headers["if-none-match"] === etag) reply.code(304).send();
    else reply.send(body);
  });
}
