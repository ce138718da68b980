import { describe } from "vitest";
import { dependencyTests } from "./store-parts/dependencies.js";
import { judgedTests } from "./store-parts/judged.js";
import { leaseTests } from "./store-parts/leases.js";
import { planTests } from "./store-parts/plans.js";
import { queueTests } from "./store-parts/queue.js";
import { recordTests } from "./store-parts/records.js";
import { recurrenceTests } from "./store-parts/recurrences.js";
import type { StoreUnderTest } from "./store-parts/scene.js";
import { transactionTests } from "./store-parts/transactions.js";

/** What every store must do alike, whatever keeps the data. */
export function storeConformance(name: string, make: () => StoreUnderTest): void {
  describe(`${name}: transactions`, () => transactionTests(make));
  describe(`${name}: leases`, () => leaseTests(make));
  describe(`${name}: records`, () => recordTests(make));
  describe(`${name}: dependencies`, () => dependencyTests(make));
  describe(`${name}: plans`, () => planTests(make));
  describe(`${name}: contexts, heads, verdicts`, () => judgedTests(make));
  describe(`${name}: what recurs`, () => recurrenceTests(make));
  describe(`${name}: the queue`, () => queueTests(make));
}
