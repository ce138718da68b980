import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "console/src/**/*.test.ts", "test/**/*.test.ts"],
    // Processes, not threads: tests load a native SQLite driver and send signals.
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/support/postgres-for-all.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Whatever the developer's own shell says must not reach a test's server or store.
    env: Object.fromEntries(
      Object.keys(process.env)
        .filter((name) => name.startsWith("DIBS_"))
        .map((name) => [name, ""]),
    ),
  },
});
