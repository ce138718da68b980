import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const TESTS = ["src/**/*.test.ts", "console/src/**/*.test.ts", "test/**/*.test.ts"];
/**
 * What speaks of rules and not of files is true of every store. The rest runs once, for these reasons:
 * - test/race/{one-instant,one-file,locked-file,plan-drain} and test/crash/{disk-full,file-gone,fsync,kill-commands,pause,thread-ended}
 *   are about processes that share one file, its locks and its disk. What they show of races and crashes is shown on
 *   PostgreSQL by test/nodes: many clients at three nodes, nodes killed, the database restarted, the network broken.
 * - test/surfaces but same-answers, test/{cli,mcp*,console,http-*,work*}: a surface reaches the store through the same
 *   calls, whatever it is; same-answers runs the whole table of operations on both.
 */
const TESTS_OF_EVERY_STORE = [
  "test/rules/*.test.ts",
  "test/model/*.test.ts",
  "test/race/{fairness,line,name-locks,linearizability,dependencies,plans,scopes,scope-drain,handoffs}.test.ts",
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
      isolate: false,
      server: { deps: { external: [/\/dist\//] } },
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
    globalSetup: ["test/support/postgres-for-all.ts", "test/support/file-for-all.ts"],
    projects: [on("sqlite", TESTS), on("postgres", TESTS_OF_EVERY_STORE)],
  },
});
