import { dirname, join, normalize } from "node:path/posix";
import { parseSync, Visitor } from "vite";

/**
 * The arrows of the house: what a room's files may import, as rooms, files (`mcp/stdio`) and packages.
 * `node:*` stands for all of Node. A room that isn't listed may not exist.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  contract: ["zod"],
  core: ["contract", "zod", "node:crypto", "croner"],
  store: ["core", "contract", "node:*", "better-sqlite3", "pg"],
  client: ["contract", "zod"],
  http: ["contract", "zod", "fastify", "node:*"],
  mcp: ["contract", "zod", "@modelcontextprotocol/server", "node:*"],
  cli: [
    "client",
    "contract",
    "config",
    "package",
    "index",
    "server",
    "mcp/stdio",
    "zod",
    "commander",
    "yaml",
    "node:*",
  ],
  config: ["contract", "zod", "node:*"],
  // Where this package lies, and its version.
  package: ["node:*"],
  // The embedding door, and the engine behind it in this thread or in one of its own.
  index: ["core", "store", "contract", "engine-host", "engine-inline", "node:*"],
  "engine-host": ["core", "store", "contract", "engine-thread", "node:*"],
  "engine-inline": ["core", "store", "engine-host", "node:*"],
  "engine-thread": ["core", "store", "contract", "node:*"],
  server: ["*"],
  console: ["client", "contract", "react", "react-dom", "@tanstack/react-query", "zod"],
};

/** Files that may pass on what other files export: the package's public doors. */
const DOORS = ["src/index.ts", "src/server.ts", "src/contract/index.ts", "src/client/index.ts"];
const VAGUE_NAME = /^(utils?|helpers?|common|misc|types)$/;
const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;
const MAX_FOLDER_SOURCES = 40;
/** Leases on tasks, those on names, and those of servers. */
const LEASE_MODULES = ["src/core/leases/leases.ts", "src/core/leases/scope-leases.ts", "src/core/leases/duties.ts"];
const LEASE_SQL = ["src/store/sql/leases.ts", "src/store/sql/scope-leases.ts"];
const LEASE_COLUMNS = "lease_id|fence|holder_agent|holder_session|claimed_at|lease_seconds|lease_until|lapsed|hops";

/** What may be lifted for one file: its length, its functions' length, and the ban on clocks in core. */
export type Lift = "file lines" | "function lines" | "clock";
/** By `path: lift`, each with its reason. */
export type Lifted = Readonly<Partial<Record<`${string}: ${Lift}`, string>>>;

/** Everything in one source file that the house forbids, each as a sentence that begins with file and line. */
export function violationsOf(path: string, text: string, lifted: Lifted = {}): string[] {
  const found: string[] = [];
  const at = (start: number) => `${path}:${text.slice(0, start).split("\n").length}`;
  const report = (start: number, sentence: string) => found.push(`${at(start)} ${sentence}`);
  checkFile(path, text, lifted, report);
  const { program, module, errors } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  for (const error of errors) report(0, `can't be parsed: ${error.message}`);
  for (const { start, moduleRequest } of module.staticImports) checkImport(path, moduleRequest.value, start, report);
  for (const { entries } of module.staticExports) {
    for (const entry of entries) {
      if (entry.moduleRequest) checkPassedOn(path, entry.moduleRequest.value, entry, report);
      if (entry.exportName.kind === "Default" && !entry.moduleRequest)
        report(entry.start, "has a default export; exports are named, so that a thing has one name everywhere.");
    }
  }
  new Visitor(visitors(path, text, lifted, report)).visit(program);
  return found;
}

type Report = (start: number, sentence: string) => void;

function checkFile(path: string, text: string, lifted: Lifted, report: Report): void {
  const name = path.replace(/^.*\//, "").replace(/\..*$/, "");
  if (VAGUE_NAME.test(name)) report(0, `is named "${name}", which says nothing; name it by what it is about.`);
  if (name === "index" && !DOORS.includes(path)) report(0, "is a barrel inside a room; import the files themselves.");
  const tooLong = lengthOf(path, text);
  if (tooLong && !lifted[`${path}: file lines`]) report(0, tooLong);
}

/** What is wrong with a file's length, a source's or a test's; nothing where it keeps to its budget. */
export function lengthOf(path: string, text: string): string | undefined {
  const lines = text.trimEnd().split("\n").length;
  if (lines <= MAX_FILE_LINES) return undefined;
  const split = `split it by ${/^test|\.test\./.test(path) ? "subject" : "noun, or lift its budget by name with a reason"}`;
  return `has ${lines} lines, ${MAX_FILE_LINES} at most; ${split}.`;
}

/** Folders with more sources than one can look over: the rules once stood in one of 144. */
export function crowded(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const tooMany = [...counts].filter(([, count]) => count > MAX_FOLDER_SOURCES);
  return tooMany.map(
    ([folder, n]) => `${folder} has ${n} sources, ${MAX_FOLDER_SOURCES} at most; split it by subject.`,
  );
}

function roomOf(path: string): string {
  if (path.startsWith("console/")) return "console";
  return path.replace(/^src\//, "").replace(/(\/|\.).*$/s, "");
}

function checkImport(path: string, specifier: string, start: number, report: Report): void {
  const room = roomOf(path);
  const allowed = MAY_IMPORT[room];
  if (!allowed) report(start, `stands in the room "${room}", which the house doesn't have.`);
  else if (!specifier.startsWith(".")) checkPackage(room, allowed, specifier, start, report);
  else if (room !== "console" || !specifier.endsWith(".css")) checkArrow(path, allowed, specifier, start, report);
}

function checkArrow(path: string, allowed: readonly string[], specifier: string, start: number, report: Report): void {
  const room = roomOf(path);
  const target = normalize(join(dirname(path), specifier)).replace(/\.jsx?$/, "");
  if (!target.startsWith("src/") && !(room === "console" && target.startsWith("console/src/")))
    report(start, `imports ${target}, which is no source of this package.`);
  if (target === "src/contract/index" && room !== "console" && !DOORS.includes(path))
    report(start, "imports the contract through its door; inside src import the file that has it.");
  const targetRoom = roomOf(`${target}.ts`);
  const passes = allowed.some((one) => one === "*" || one === targetRoom || target.startsWith(`src/${one}`));
  if (targetRoom !== room && !passes)
    report(start, `imports ${targetRoom} from ${room}; ${room} may import only ${allowed.join(", ")}.`);
}

function checkPackage(
  room: string,
  allowed: readonly string[],
  specifier: string,
  start: number,
  report: Report,
): void {
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : specifier.split("/")[0];
  const node = specifier.startsWith("node:");
  const passes = allowed.some((one) => one === "*" || one === specifier || one === name || (node && one === "node:*"));
  if (!passes) report(start, `imports ${specifier} from ${room}; ${room} may import only ${allowed.join(", ")}.`);
}

function checkPassedOn(
  path: string,
  from: string,
  entry: { start: number; importName: { kind: string } },
  report: Report,
): void {
  checkImport(path, from, entry.start, report);
  if (entry.importName.kind.startsWith("All"))
    report(entry.start, `passes on everything of ${from}; a door names what it offers.`);
  else if (!DOORS.includes(path))
    report(entry.start, `passes on names of ${from}; only the doors do: ${DOORS.join(", ")}.`);
}

interface Node {
  readonly start: number;
  readonly end: number;
}
interface Member extends Node {
  readonly object: unknown;
  readonly property: unknown;
}

function visitors(path: string, text: string, lifted: Lifted, report: Report): Record<string, (node: never) => void> {
  const code = (node: unknown) => text.slice((node as Node).start, (node as Node).end);
  const checkLength = (node: Node) => {
    const lines = code(node).split("\n").length;
    if (lines > MAX_FUNCTION_LINES && !lifted[`${path}: function lines`])
      report(node.start, `has a function of ${lines} lines, ${MAX_FUNCTION_LINES} at most; name its parts.`);
  };
  const inCore = path.startsWith("src/core/");
  const clockless = inCore && !lifted[`${path}: clock`];
  const checkSql = (node: Node) => {
    if (!LEASE_SQL.includes(path) && !path.startsWith("src/store/migrations/") && writesLease(code(node)))
      report(node.start, `writes a lease's columns; only ${LEASE_SQL.join(" and ")} do (R44).`);
  };
  return {
    FunctionDeclaration: checkLength,
    FunctionExpression: checkLength,
    ArrowFunctionExpression: checkLength,
    MemberExpression: (node: Member) => {
      const written = `${code(node.object)}.${code(node.property)}`;
      if (written === "process.env" && path !== "src/config.ts")
        report(node.start, "reads process.env; only src/config.ts does.");
      if (clockless && /^(Date|performance)\.now$/.test(written))
        report(node.start, `reads ${written}(); core takes its time from the transaction's clock.`);
      if (inCore && !LEASE_MODULES.includes(path) && code(node.property) === "leases")
        report(node.start, `calls the lease port; only ${LEASE_MODULES.join(" and ")} do (R44).`);
    },
    NewExpression: (node: Node) => {
      if (clockless && /^new Date(\(\s*\))?$/.test(code(node)))
        report(node.start, "reads the time with new Date(); core takes its time from the transaction's clock.");
    },
    ImportExpression: (node: Node & { source: { value?: unknown } }) => {
      if (typeof node.source.value === "string") checkImport(path, node.source.value, node.start, report);
    },
    TemplateLiteral: checkSql,
    Literal: checkSql,
  };
}

/** Whether SQL text sets a lease column of a task, in an UPDATE or an INSERT. */
function writesLease(sql: string): boolean {
  const column = new RegExp(`\\b(${LEASE_COLUMNS})\\b`, "i");
  const assigned = new RegExp(`\\b(${LEASE_COLUMNS})\\s*=`, "i");
  const set = /\bUPDATE\s+\w*task\w*\b[\s\S]*?\bSET\b([\s\S]*?)(\bWHERE\b|\bRETURNING\b|$)/i.exec(sql);
  const columns = /\bINSERT\s+(?:OR\s+\w+\s+)?INTO\s+\w*task\w*\s*\(([^)]*)\)/i.exec(sql);
  return (set !== null && assigned.test(set[1] ?? "")) || (columns !== null && column.test(columns[1] ?? ""));
}
