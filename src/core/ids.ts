import { createHash, randomBytes, randomInt } from "node:crypto";

/** 32 hexadecimal digits that grow with time (a UUIDv7 without its hyphens), so that indexes grow at one end. */
export function newId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return bytes.toString("hex");
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

/** A random secret for a one-time link or a cookie. */
export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}
