import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Copy, DockerfileParser, type From, type Instruction, type JSONInstruction } from "dockerfile-ast";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseDocument } from "yaml";
import { readConfig } from "../src/config.js";

/**
 * What can be known of the files in deploy/ without an engine to run them: they parse, they name only files, scripts,
 * stages, settings and routes that there are. That an image is built of them and runs is tried by hand.
 */

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  bin: { dibs: string };
  scripts: Record<string, string>;
  engines: { node: string };
};
const SETTINGS = new Set(read("src/config.ts").match(/\b(DIBS_[A-Z_]+|XDG_DATA_HOME)(?=:)/g));
/** Read by Node, by the driver and by the image of Postgres, not by Dibs. */
const OTHERS = /^(NODE_ENV|PGPASSWORD|POSTGRES_\w+)$/;

function expectKnown(names: readonly string[]): void {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !SETTINGS.has(name) && !OTHERS.test(name))).toEqual([]);
}

describe("the Dockerfile", () => {
  const parsed = DockerfileParser.parse(read("deploy/Dockerfile"));
  const all = parsed.getInstructions();
  const stages = parsed.getFROMs().map((from, at, froms) => {
    const next = froms[at + 1]?.getRange().start.line ?? Number.POSITIVE_INFINITY;
    const inside = (each: Instruction) =>
      each.getRange().start.line > from.getRange().start.line && each.getRange().start.line < next;
    return { from, name: from.getBuildStage(), instructions: all.filter(inside) };
  });
  const last = stages.at(-1);
  const named = (keyword: string, among: readonly Instruction[] = all) =>
    among.filter((each) => each.getKeyword() === keyword);
  const jsonOf = (keyword: string, at = 0) =>
    ((named(keyword, last?.instructions)[0] as JSONInstruction).getJSONStrings() ?? [])
      .slice(at)
      .map((text) => text.getJSONValue());

  test("is of known instructions, each with its arguments", () => {
    const known = "FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD".split(" ");
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((each) => !known.includes(each.getKeyword())).map(String)).toEqual([]);
    expect(all.filter((each) => each.getArguments().length === 0)).toEqual([]);
  });

  test("copies only what is there: from the clone past its ignore file, from stages before", () => {
    const kept =
      read("deploy/Dockerfile.dockerignore")
        .match(/^!.+$/gm)
        ?.map((line) => line.slice(1)) ?? [];
    for (const copy of named("COPY") as Copy[]) {
      const sources = copy
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue());
      const [flag] = copy.getFlags();
      if (flag?.getName() === "from") {
        const stage = stages.find(({ name }) => name === flag.getValue());
        expect(stage?.from.getRange().start.line).toBeLessThan(copy.getRange().start.line);
        for (const source of sources) expect(source).toMatch(/^\/dibs\/(dist|console\/dist|node_modules)$/);
      } else {
        for (const source of sources) {
          expect(existsSync(join(ROOT, source)), source).toBe(true);
          expect(
            kept.some((path) => source === path || source.startsWith(`${path}/`)),
            source,
          ).toBe(true);
        }
      }
    }
  });

  test("runs only scripts that there are, on a Node that Dibs knows", () => {
    const scripts = named("RUN").flatMap((run) => [...run.getTextContent().matchAll(/npm run ([\w:-]+)/g)]);
    expect(scripts.map(([, script]) => script)).toEqual(["build"]);
    for (const [, script = ""] of scripts) expect(manifest.scripts).toHaveProperty(script);
    for (const { from } of stages) {
      const major = Number(/^node:(\d+)-/.exec((from as From).getImage() ?? "")?.[1]);
      expect(major).toBeGreaterThan(Number(/\d+/.exec(manifest.engines.node)?.[0]));
    }
  });

  test("ends in an image with nothing to build with, that runs as nobody special and says how it is", () => {
    expect(stages.length).toBeGreaterThan(1);
    const copies = named("COPY", last?.instructions) as Copy[];
    const modules = copies.find((copy) => copy.getTextContent().includes("node_modules"));
    const from = stages.find(({ name }) => name === modules?.getFlags()[0]?.getValue());
    expect(named("RUN", from?.instructions).map(String).join()).toMatch(/npm ci --omit=dev/);
    expect(named("RUN", last?.instructions).filter((run) => /npm|apt/.test(run.getTextContent()))).toEqual([]);
    expect(named("USER", last?.instructions).map((user) => user.getArgumentsContent())).toEqual(["node"]);
    expect(jsonOf("ENTRYPOINT")).toEqual(["node", `/dibs/${manifest.bin.dibs}`]);
    expect(jsonOf("CMD")).toEqual(["up"]);
    expectKnown(named("ENV").flatMap((env) => env.getArguments().map((each) => each.getValue().split("=")[0] ?? "")));
    const check = read("deploy/Dockerfile").match(/^HEALTHCHECK .*\n\s+CMD (\[.*\])$/m)?.[1];
    expectHealthCheck(JSON.parse(check ?? "[]"));
  });
});

/** A program in Node's own words that asks one of the server's health routes. */
function expectHealthCheck(command: readonly string[]): void {
  const [program, flag, script = ""] = command;
  expect([program, flag]).toEqual(["node", "-e"]);
  expect(() => new Function(script)).not.toThrow();
  const route = /\/(livez|readyz)\b/.exec(script)?.[0];
  expect(read("src/http/health.ts")).toContain(`"${route}"`);
}

describe("the compose file", () => {
  const document = parseDocument(read("deploy/compose.yaml"), { strict: true, uniqueKeys: true });
  const compose = document.toJS() as {
    services: Record<string, Record<string, unknown> & { environment: Record<string, string>; volumes: string[] }>;
    volumes: Record<string, unknown>;
  };
  const { dibs, postgres } = compose.services;

  test("is YAML without a fault, and its volumes, Dockerfile and dependencies are there", () => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    for (const { volumes } of Object.values(compose.services)) {
      for (const mount of volumes) expect(compose.volumes).toHaveProperty(mount.split(":")[0] ?? "");
    }
    const { context, dockerfile } = Object(dibs).build as { context: string; dockerfile: string };
    expect(existsSync(join(ROOT, "deploy", context, dockerfile))).toBe(true);
    for (const name of Object.keys(dibs?.depends_on as object)) expect(compose.services).toHaveProperty(name);
    expect(postgres).toHaveProperty("healthcheck.test");
    const check = dibs?.healthcheck as { test: string[] } | undefined;
    expectHealthCheck(check?.test.slice(1) ?? []);
  });

  test("gives Dibs settings that there are, with values it takes, and has no secret in it", () => {
    expectKnown(Object.values(compose.services).flatMap(({ environment }) => Object.keys(environment)));
    const secrets = ["POSTGRES_PASSWORD", "PGPASSWORD", "DIBS_ADMIN_KEY"];
    for (const { environment } of Object.values(compose.services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (secrets.includes(name)) expect(value).toMatch(/^\$\{[A-Z_]+:\?[^}]+\}$/);
        expect(value).not.toMatch(/:\/\/[^@/]*:[^@/]*@/);
      }
    }
    const given = Object.entries(dibs?.environment ?? {}).filter(([name]) => name.startsWith("DIBS_"));
    const filled = given.map(([name, value]) => [name, String(value).replace(/\$\{[^}]+\}/, "x".repeat(24))]);
    expect(readConfig(Object.fromEntries(filled)).store).toBe("postgres://dibs@postgres/dibs");
  });
});

describe("the systemd unit", () => {
  const text = read("deploy/dibs.service");

  test("starts the program with settings that there are", () => {
    expect(/^ExecStart=(\S+) up$/m.exec(text)?.[1]).toMatch(/^\/.*\/dibs$/);
    expect(Object.keys(manifest.bin)).toEqual(["dibs"]);
    expectKnown([...text.matchAll(/^(?:Environment=|# {2,})(\w+)=/gm)].map(([, name]) => name as string));
  });

  test("is what systemd takes, hardened as well as a Node program can be, where there is a systemd to ask", async (context) => {
    const analyze = (args: string[]) => promisify(execFile)("systemd-analyze", args);
    if (!(await analyze(["--version"]).catch(() => undefined))) context.skip("no systemd-analyze here");
    const folder = mkdtempSync(join(tmpdir(), "dibs-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const unit = join(folder, "dibs.service");
    // The program stands elsewhere here.
    writeFileSync(unit, text.replace(/^ExecStart=\S+/m, `ExecStart=${join(ROOT, manifest.bin.dibs)}`));
    const verified = await analyze(["verify", unit]);
    expect(verified.stdout + verified.stderr).not.toMatch(/dibs\.service/);
    const { stdout } = await analyze(["security", "--offline=true", "--threshold=20", unit]);
    expect(stdout).toMatch(/Overall exposure level for dibs.service: [01]\.\d OK/);
  });
});
