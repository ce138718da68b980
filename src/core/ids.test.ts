import { describe, expect, test } from "vitest";
import { newId, newKey, sha256 } from "./ids.js";

describe("ids", () => {
  test("are 32 hexadecimal digits that grow with time and in the order they are made", () => {
    const ids = [1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000].flatMap((ms) =>
      Array.from({ length: 1_000 }, () => newId(ms)),
    );
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  test("can't be guessed from the one before", () => {
    const [a, b] = [newId(1), newId(1)];
    expect(a?.slice(18)).not.toBe(b?.slice(18));
  });
});

describe("keys (R48)", () => {
  test("have a public part, a secret and a checksum that tells a real one from a lookalike", () => {
    const { key, id, hash } = newKey();
    const [brand, part, secret, checksum] = key.split("_");
    expect([brand, part]).toEqual(["dibs", id]);
    expect(secret).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(checksum).toBe(sha256(`dibs_${id}_${secret}`).slice(0, 6));
    expect(hash).toBe(sha256(key));
    expect(newKey().key).not.toBe(key);
  });
});
