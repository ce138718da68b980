import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const TESTS = ["src/**/*.test.ts", "console/src/**/*.test.ts", "test/**/*.test.ts"];
/** What speaks of rules and not of files is true of every store. */
const TESTS_OF_EVERY_STORE = [
  "test/rules/*.test.ts",
  "test/model/*.test.ts",
  "test/race/{fairness,linearizability}.test.ts",
  "test/surfaces/same-answers.test.ts",
];

function on(store: "sqlite" | "postgres", include: string[]): TestProjectInlineConfiguration {
  return {
    test: {
      name: store,
      provide: { store },
      include,
      // Processes, not threads: tests load a native SQLite driver and send signals.
      pool: "forks",
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // Whatever the developer's own shell says must not reach a test's server or store.
      env: Object.fromEntries(
        Object.keys(process.env)
          .filter((name) => name.startsWith("DIBS_"))
          .map((name) => [name, ""]),
      ),
    },
  };
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    // Once for all projects.
    globalSetup: ["test/support/postgres-for-all.ts"],
    projects: [on("sqlite", TESTS), on("postgres", TESTS_OF_EVERY_STORE)],
  },
});
