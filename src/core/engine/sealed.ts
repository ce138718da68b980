import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Text that only who knows `secret` can read again; what is kept says nothing of either. */
export function seal(text: string, secret: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce);
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64url");
}

/** The text that was sealed. Throws where the secret is another one, or the sealed text was changed. */
export function unseal(sealed: string, secret: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
}

function keyOf(secret: string): Buffer {
  return createHash("sha256").update(`dibs sealed answer\0${secret}`).digest();
}
