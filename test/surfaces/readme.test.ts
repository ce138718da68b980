import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.js";
import { DIBS, ownEnvironment } from "../support/server-process.js";
import { openWorld, type World } from "./world.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** The README's blocks that are marked to be run, by language. */
function blocks(language: string): string[] {
  return [...README.matchAll(/^```(\w+) ran\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , text]) => text as string);
}

let world: World;
let folder: string;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  world = await openWorld();
  folder = mkdtempSync(join(tmpdir(), "dibs-readme-"));
  // Who follows the README has `dibs` on the path; the child has nothing else of this project's.
  writeFileSync(join(folder, "dibs"), `#!/bin/sh\nexec "${process.execPath}" "${DIBS}" "$@"\n`);
  chmodSync(join(folder, "dibs"), 0o755);
  env = ownEnvironment({ PATH: `${folder}${delimiter}${process.env.PATH}`, DIBS_STORE: `sqlite:${folder}/readme.db` });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(program: string, args: string[], more: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, env: { ...env, ...more } }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
    );
  });
}

describe("the README's examples do what it says", () => {
  test("the session at its top gives the lines it shows", async () => {
    const [session = ""] = blocks("console");
    const lines = session.trimEnd().split("\n");
    expect(lines).toHaveLength(10);
    const script = ["exec 2>&1", ...lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2))];
    const said = (await run("bash", ["-c", script.join("\n")])).trimEnd().split("\n");
    const shown = lines.filter((line) => !line.startsWith("$ "));
    expect(said).toHaveLength(shown.length);
    for (const [at, line] of shown.entries()) expect(said[at]).toMatch(patternOf(line));
  });

  test("the store of a team that outgrew one file is made by the command, and takes tasks", async () => {
    const database = await freshDatabase(inject("postgres"));
    onTestFinished(database.drop);
    const [script = ""] = blocks("sh");
    const url = new URL(database.url);
    const { password } = url;
    url.password = "";
    const here = script.replace("postgres://dibs@db.example/dibs", url.href);
    expect(here).not.toBe(script);
    const said = await run("bash", ["-c", `${here}\ndibs task add one --json`], { PGPASSWORD: password });
    const [migrated = "", task = ""] = said.trim().split("\n");
    expect(migrated).toMatch(/^The schema of postgres:\/\/\S+ went from version 0 to \d+\.$/);
    expect(JSON.parse(task)).toMatchObject({ content: "one", status: "open" });
  });

  test("the worker in curl does all its tasks, and ends", async () => {
    const { dibs, key } = world.people.ann;
    for (const content of ["one", "two"]) await dibs.createTask({ content, labels: ["invoices"] });
    const [, script = ""] = blocks("sh");
    const said = await run("bash", ["-c", script], { DIBS_URL: world.url, DIBS_KEY: key });
    expect(said.trim().split("\n")).toEqual(["working on: one", "completed", "working on: two", "completed"]);
  });

  test("the loop of the client does its task, from a project that has only installed the package", async () => {
    const { dibs, key } = world.people.bob;
    const task = await dibs.createTask({ content: "a report", labels: ["reports"] });
    const project = join(folder, "project");
    mkdirSync(join(project, "node_modules"), { recursive: true });
    await run("ln", ["-s", ROOT, join(project, "node_modules", "dibs")]);
    const [program = ""] = blocks("js");
    writeFileSync(join(project, "worker.mjs"), program);
    await run(process.execPath, [join(project, "worker.mjs")], { DIBS_URL: world.url, DIBS_KEY: key });
    expect(await dibs.getTask({ task_id: task.id })).toMatchObject({
      status: "completed",
      result: { title: "a report" },
      progress: "started",
    });
  });

  test("the configuration for MCP clients starts a server that lists the tools named", async () => {
    const [config = ""] = blocks("json");
    const { command, args } = JSON.parse(config).mcpServers.dibs as { command: string; args: string[] };
    const client = new Client({ name: "readme", version: "1" });
    await client.connect(new StdioClientTransport({ command, args, env: env as Record<string, string> }));
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    await client.close();
    expect(README).toContain(`\`${names.join(" ")}\``);
    expect(README).toContain("the same twelve tools");
  });
});

describe("what the documents point at is there", () => {
  const documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  for (const name of readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".md") && name !== "api.md") documents.push(`docs/${name}`);
  }

  test.each(documents)("%s", (name) => {
    const text = readFileSync(join(ROOT, name), "utf8");
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, to]) => to as string);
    const gone = links.filter((to) => !/^https?:/.test(to) && !existsSync(join(ROOT, dirname(name), to)));
    expect(gone).toEqual([]);
  });

  test("each promise names a test that stands in the file named", () => {
    const rows = [
      ...readFileSync(join(ROOT, "docs/guarantees.md"), "utf8").matchAll(/`((?:test|src)\/[^`]+)`: “([^”]+)”/g),
    ];
    expect(rows.length).toBeGreaterThan(30);
    const missing = rows.filter(([, file, words]) => {
      const path = join(ROOT, file as string);
      return !existsSync(path) || !readFileSync(path, "utf8").includes(words as string);
    });
    expect(missing.map(([row]) => row)).toEqual([]);
  });

  test("the architecture fits on a page", () => {
    expect(readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n").length).toBeLessThan(120);
  });
});

/** `…` stands for what is another each time. */
function patternOf(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
