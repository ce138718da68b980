import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A PostgreSQL server for all tests: the one that DIBS_TEST_POSTGRES names, else one of their own. */
    postgres: string;
  }
}

/** Started before the tests, stopped after them. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const named = process.env.DIBS_TEST_POSTGRES;
  if (named) {
    project.provide("postgres", named);
    return undefined;
  }
  const server = await startPostgres();
  project.provide("postgres", server.url);
  return () => server.stop();
}
