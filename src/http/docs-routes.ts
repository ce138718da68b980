import type { FastifyInstance } from "fastify";
import { JSON_TYPE, PAGE_POLICY, sendText } from "./headers.js";
import { buildOpenApi } from "./openapi.js";
import { BASES, underBase } from "./operation-routes.js";
import { REFERENCE_STYLE, referencePage } from "./reference-page.js";

/** The reference for people (`/docs`) and for programs (`/v1/openapi.json`), without a key; made on first use. */
export function mountDocs(app: FastifyInstance): void {
  for (const base of BASES) {
    mountText(app, underBase("/v1/openapi.json", base), JSON_TYPE, () => JSON.stringify(buildOpenApi()));
  }
  mountText(app, "/docs", "text/html; charset=utf-8", referencePage);
  mountText(app, "/docs/style.css", "text/css; charset=utf-8", () => REFERENCE_STYLE);
}

function mountText(app: FastifyInstance, url: string, type: string, make: () => string): void {
  let made: string | undefined;
  app.get(url, { config: { open: true } }, (_request, reply) => {
    made ??= make();
    reply.header("content-security-policy", PAGE_POLICY).header("cache-control", "no-cache");
    sendText(reply, 200, type, made);
  });
}
