import { describe, expect, test } from "vitest";
import { StoreBusy, StoreConflict } from "../core/port/store.js";
import { isLost, translatePostgresFault } from "./postgres-faults.js";

const fault = (code: string, message = "what the driver says") => Object.assign(new Error(message), { code });

describe("what the driver's faults mean", () => {
  test.each([
    ["40001", "serialization"],
    ["40P01", "a deadlock"],
    ["0A000", "cached plan must not change result type"],
  ])("%s: the transaction is tried again", (code, message) => {
    expect(translatePostgresFault(fault(code, message), "there")).toBeInstanceOf(StoreConflict);
  });

  test.each([
    ["28P01", "", /^there refused the password; check DIBS_STORE\.$/],
    ["57P03", "", /^there can't be reached or used just now; repeat the call, with its Idempotency-Key/],
    ["ECONNREFUSED", "", /^there can't be reached/],
    ["ENOENT", "connect ENOENT /run/postgresql/.s.PGSQL.5432", /^there can't be reached/],
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "self-signed certificate",
      /^there can't be trusted: self-signed certificate; check/,
    ],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "no such name", /^there can't be trusted: no such name; check .* sslmode/],
    ["", "The server does not support SSL connections", /^there can't be trusted: The server does not support SSL/],
  ])("%s %s: the store can't be used now, and what can be done", (code, message, said) => {
    const told = translatePostgresFault(fault(code, message), "there");
    expect(told).toBeInstanceOf(StoreBusy);
    expect((told as Error).message).toMatch(said);
  });

  test("a file of the connection's settings that isn't there is no fault of Dibs", () => {
    const told = translatePostgresFault(
      Object.assign(fault("ENOENT", "no such file: ca.pem"), { syscall: "open" }),
      "there",
    );
    expect(told).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("ca.pem") });
  });

  test("a mistake in a statement is ours, and stays what it is", () => {
    const mistake = Object.assign(fault("42601", "an unterminated quote"), { severity: "ERROR" });
    expect(translatePostgresFault(mistake, "there")).toBe(mistake);
    expect(isLost(mistake)).toBe(false);
  });
});
