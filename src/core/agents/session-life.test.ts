import { describe, expect, test } from "vitest";
import type { SessionRow } from "../port/rows.js";
import { signOfLife } from "./session-life.js";

const session = (seen_at: number, expires_at: number | null, ttl_seconds: number | null = 80) =>
  ({ ttl_seconds, seen_at, expires_at }) as SessionRow;

describe("a sign of life (R9)", () => {
  test("of a sparse caller moves the end to exactly its length from now", () => {
    expect(signOfLife(session(0, 80_000), 20_000)).toMatchObject({ seen_at: 20_000, expires_at: 100_000 });
  });

  test("of one that calls more often than every quarter adds an eighth, and needs no write until that is used", () => {
    const touched = signOfLife(session(0, 80_000), 1_000);
    expect(touched).toMatchObject({ seen_at: 1_000, expires_at: 91_000 });
    for (const at of [1_000, 5_000, 11_000]) expect(signOfLife(touched as SessionRow, at)).toBeNull();
    expect(signOfLife(touched as SessionRow, 11_001)).toMatchObject({ seen_at: 11_001, expires_at: 101_001 });
  });

  test("is nothing to an implicit session, which never dies of silence (R13)", () => {
    expect(signOfLife(session(0, null, null), 1_000)).toBeNull();
  });
});
