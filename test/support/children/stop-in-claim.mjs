// Preloaded into a command: stops its own process (SIGSTOP) in the middle of the write transaction that grants a task,
// after the grant is written and before COMMIT, with SQLite's write lock held. The parent sends SIGCONT, or SIGKILL.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
let granted = false;

function stopIn(prototype) {
  const { exec, prepare } = prototype;
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    if (!/^UPDATE tasks SET .*claimed_at = /.test(sql)) return statement;
    const run = statement.run.bind(statement);
    statement.run = (...params) => {
      granted = true;
      return run(...params);
    };
    return statement;
  };
  prototype.exec = function (sql) {
    if (sql === "COMMIT" && granted) {
      granted = false;
      process.kill(process.pid, "SIGSTOP");
    }
    return exec.call(this, sql);
  };
}

for (const load of [() => require("node:sqlite").DatabaseSync, () => require("better-sqlite3")]) {
  try {
    stopIn(load().prototype);
  } catch {
    // This Node has only the other driver.
  }
}
