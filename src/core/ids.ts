import { createHash, randomBytes, randomFillSync, randomInt } from "node:crypto";

// Random bytes are drawn 4 KiB at a time: one call of the generator costs 10 µs, whatever it is asked for.
const pool = Buffer.alloc(4096);
let unused = 0;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function randomByte(): number {
  if (unused === 0) {
    randomFillSync(pool);
    unused = pool.length;
  }
  unused -= 1;
  return pool[unused] as number;
}

let lastMs = 0;
let counter = 0;

/**
 * 32 hexadecimal digits that grow with time and, within a millisecond, with every id made here (a UUIDv7 without its
 * hyphens, its first 18 random bits a counter; RFC 9562, 6.2 method 1). Records made together so stand together in every index:
 * fifty claims of tasks from one batch wrote 27 pages of the events' index with random order, 4 with this one.
 */
export function newId(nowMs: number): string {
  counter = nowMs === lastMs ? counter + 1 : ((randomByte() << 8) | randomByte()) << 1;
  lastMs = nowMs;
  const high = ((counter >> 6) & 0xfff).toString(16).padStart(3, "0");
  const low = HEX[0x80 | (counter & 0x3f)];
  let rest = "";
  for (let at = 0; at < 7; at += 1) rest += HEX[randomByte()];
  return `${nowMs.toString(16).padStart(12, "0")}7${high}${low}${rest}`;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base62 = (length: number) => Array.from({ length }, () => ALPHABET[randomInt(62)]).join("");

export interface NewKey {
  /** The whole secret, shown once: `dibs_<id>_<secret>_<checksum>`. */
  readonly key: string;
  /** The public part. */
  readonly id: string;
  /** What is stored. */
  readonly hash: string;
}

/**
 * A key of 190 random bits. SHA-256 is right for storing it: a slow password hash would only be a lever to exhaust us.
 * The checksum (the first 6 digits of the hash of what precedes it) lets scanners tell a real key from a lookalike.
 */
export function newKey(): NewKey {
  const id = base62(10);
  const body = `dibs_${id}_${base62(32)}`;
  const key = `${body}_${sha256(body).slice(0, 6)}`;
  return { key, id, hash: sha256(key) };
}

export interface ResumeToken {
  /** The whole secret, shown once: `resume_<session>_<secret>`. */
  readonly token: string;
  /** What is stored. */
  readonly hash: string;
}

/** What resumes a session. It names it, so that one that was used is told from one that never was. */
export function newResumeToken(sessionId: string): ResumeToken {
  const token = `resume_${sessionId}_${newSecret()}`;
  return { token, hash: sha256(token) };
}

/** The session that a resume token names; undefined where the text is none. */
export function resumedBy(token: string): string | undefined {
  return /^resume_([0-9a-f]{32})_/.exec(token)?.[1];
}

/** A random secret for a one-time link or a cookie. */
export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}
