// Brings node_modules to what package-lock.json says, and makes sure that a SQLite driver loads.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { root, run, say } from "./steps.mjs";

const OLDEST_NODE = [20, 19];

/** Installs only when something is missing or of another version; ends the process when it can't be done. */
export function install() {
  refuseOldNode();
  installPackage("", "dependencies");
  ensureSqliteDriver();
}

/** The same for a package of its own inside this one, in a `folder` that ends with a slash. */
export function installPackage(folder, what) {
  if (isInstalled(folder)) return;
  say(`Installing ${what} (about a minute the first time, three when better-sqlite3 must be compiled) …`);
  // Development tools do the building, so they are wanted whatever NODE_ENV says.
  const status = run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root + folder,
    env: ownHeaders(),
  });
  if (status === 0) return;
  say("npm ci failed. Its message is above; when it is the network or the registry, run this command again.");
  process.exit(status);
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  say(
    `Dibs needs Node ${OLDEST_NODE.join(".")} or newer (22 or 24 recommended); this is Node ${process.versions.node}.`,
  );
  process.exit(1);
}

/** npm writes node_modules/.package-lock.json as the last act of an install, so it tells what is really there. */
function isInstalled(folder) {
  const wanted = lockedPackages(`${folder}package-lock.json`);
  const present = lockedPackages(`${folder}node_modules/.package-lock.json`);
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    // Optional ones are there or not by platform and compiler; the driver among them is checked by loading it.
    if (path === "" || optional || link || !path.includes("node_modules/")) return true;
    return present[path]?.version === version && existsSync(root + folder + path);
  });
}

function lockedPackages(file) {
  const text = readIfThere(root + file);
  return text && JSON.parse(text).packages;
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function ensureSqliteDriver() {
  if (hasBuiltInSqlite() || loadsBetterSqlite()) return;
  if (existsSync(`${root}node_modules/better-sqlite3`)) {
    say("Compiling better-sqlite3, as npm did not or Node has changed since (about two minutes) …");
    run("npm", ["rebuild", "better-sqlite3", "--foreground-scripts"], { show: "failure", env: ownHeaders() });
    if (loadsBetterSqlite()) return;
  }
  say(NO_DRIVER);
  process.exit(1);
}

/** Most Nodes come with their C headers; compiling against those asks nodejs.org for nothing and can't get the wrong ones. */
function ownHeaders() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const version = readIfThere(`${prefix}/include/node/node_version.h`);
  const [major] = process.versions.node.split(".");
  return version?.includes(`#define NODE_MAJOR_VERSION ${major}\n`) ? { npm_config_nodedir: prefix } : {};
}

const NO_DRIVER = `No SQLite driver works on Node ${process.versions.node}. Do one of these, then run the command again:
  - use Node 24, or 22.13 or newer, which has SQLite built in; or
  - let better-sqlite3 be compiled: install python3, make, g++ and Node's headers
    (Debian, Ubuntu: apt-get install python3 make g++ libnode-dev; macOS: xcode-select --install),
    then delete node_modules. Where nodejs.org can't be reached for the headers, point npm at
    those of this Node: npm config set nodedir PREFIX, so that PREFIX/include/node/node.h exists.`;

/** In a process of its own: importing it prints a warning, and a broken binary may end the process. */
function hasBuiltInSqlite() {
  return loads('const { DatabaseSync } = require("node:sqlite"); new DatabaseSync(":memory:").close();');
}

function loadsBetterSqlite() {
  return loads('const Database = require("better-sqlite3"); new Database(":memory:").close();');
}

function loads(script) {
  return run(process.execPath, ["--no-warnings", "-e", script], { show: "never" }) === 0;
}
