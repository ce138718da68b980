// `npm test`: everything a fresh clone needs, then all checks and every test. With arguments (`npm test -- leases`)
// only the tests they choose, as vitest understands them.
import { build } from "./build.mjs";
import { check, runTests } from "./check.mjs";
import { install } from "./install.mjs";

install();
await build();
const chosen = process.argv.slice(2);
if (chosen.length > 0) process.exit(runTests(chosen));
await check();
