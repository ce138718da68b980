import type { FastifyReply } from "fastify";

/** On every answer: nothing is guessed, framed, read across origins, told to other sites or kept by caches. */
export const BASE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
} as const;

/** For the pages people see: only our own files, no inline code, nothing framed or sent elsewhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const JSON_TYPE = "application/json; charset=utf-8";
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

let lastSecond = Number.NaN;
let lastText = "";

/** RFC 3339 in UTC with milliseconds. Answers of one second share the work of all but the milliseconds. */
export function timeText(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, 20);
    lastSecond = second;
  }
  return `${lastText}${String(ms - second * 1000).padStart(3, "0")}Z`;
}

/** Sends text that is ready; sets its type and the time it was true. */
export function sendText(reply: FastifyReply, status: number, type: string, text: string, nowMs = Date.now()): void {
  reply.code(status).header("server-now", timeText(nowMs)).header("content-type", type).send(text);
}
