import { expect, test } from "vitest";
import { roleAtLeast } from "./identity.js";

test("roles are cumulative (R46)", () => {
  const may = (["worker", "coordinator", "admin"] as const).map((role) => [
    roleAtLeast(role, "worker"),
    roleAtLeast(role, "coordinator"),
    roleAtLeast(role, "admin"),
  ]);
  expect(may).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
});
