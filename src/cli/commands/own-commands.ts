import { Command, Option } from "commander";
import type { Format } from "../imports/formats.js";
import { landCommand } from "./land-command.js";
import type { Finish } from "./operation-command.js";
import { collect, examples, type OwnCommand, type Run, running, whole } from "./own-command.js";

/** The commands that are more than one operation. What each does is loaded when it runs. */
export function ownCommands(finish: Finish): OwnCommand[] {
  return [
    workCommand(finish),
    runCommand(finish),
    landCommand(finish),
    up(finish),
    mcp(finish),
    demo(finish),
    demoAgent(finish),
    planApply(finish),
    workspaceAdd(finish),
    migrate(finish),
    restored(finish),
    exporting(finish),
    importing(finish),
  ];
}

function workCommand(finish: Finish): OwnCommand {
  const command = new Command("work")
    .description(
      "Take task after task and run a command for each. It gets the task as JSON on stdin and in DIBS_TASK_ID, DIBS_TASK_CONTENT, DIBS_LEASE_ID, DIBS_FENCE and DIBS_SESSION. Exit status 0 completes the task with the end of stdout as its result; any other fails it with a retry, which counts as an attempt; so does a task that requires a verdict when the command gave none (dibs task judge). The lease is kept meanwhile; when it is lost, or can't be known to be held, the command is stopped and the run ends with 5. Only when the clock ended the lease, as while the machine slept, and nobody has had the task since, it is claimed again and the command goes on; its DIBS_LEASE_ID, DIBS_FENCE and DIBS_SESSION are then the old ones. On Ctrl-C and on a cancel request the command is stopped and its task released.",
    )
    .argument("<COMMAND...>", "the command and its arguments, best after --")
    .option("--label <text>", "Only tasks that carry all of these. (repeatable)", collect)
    .option("--project <id>", "Only this project (id or key).")
    .option("--plan <slug>", "Only steps of this plan.")
    .option("--lease <seconds>", "Length of each lease; the workspace's default without it.", whole)
    .option("--count <n>", "Sessions at work at once. (default: 1)", whole)
    .option("--once", "One task per session, then end; with --drain don't wait for it.")
    .option("--drain", "End when there is nothing to claim.")
    .passThroughOptions();
  examples(
    command,
    "dibs work -- ./do-task.sh",
    `dibs work --label tests --count 3 --drain -- sh -c 'npm test -- "$DIBS_TASK_CONTENT"'`,
  );
  return running("work", command, finish, async (values, program, output) => {
    const { work } = await import("../running/work.js");
    const plan = {
      program,
      labels: values.label as string[] | undefined,
      project: values.project as string | undefined,
      steps: values.plan as string | undefined,
      leaseSeconds: values.lease as number | undefined,
      count: (values.count as number | undefined) ?? 1,
      once: values.once === true,
      drain: values.drain === true,
    };
    return work(plan, output);
  });
}

function runCommand(finish: Finish): OwnCommand {
  const command = new Command("run")
    .description(
      "Run a command while its scopes are held: they are claimed first, all or none, kept while it runs and given back when it ends. Another's claim in the way ends with 4 and names the holder. When the scopes are lost, which is known within about 10 s, or can't be known to be held, the command is stopped and the run ends with 5, also if the command ended before that was known; else with the command's own status. It gets DIBS_FENCE (of the first scope; DIBS_FENCES has each, by scope, as JSON), DIBS_SCOPES and DIBS_SESSION. With --session, or DIBS_SESSION, that session holds them, counted with what it holds already, and isn't ended; inside another dibs run or dibs work it is a session under that one's, which doesn't keep it out and ends it at its own end.",
    )
    .argument("<COMMAND...>", "the command and its arguments, best after --")
    .requiredOption("--scope <scope>", "A file of this worktree, or a scope as port:3000. (repeatable)", collect)
    .requiredOption("--intent <text>", "What for; others read it.")
    .option("--shared", "Beside others that share them, too.")
    .option("--project <id>", "The project (id or key) whose names they are.")
    .option("--lease <seconds>", "Length of the lease; the workspace's default without it.", whole)
    .option("--wait <seconds>", "How long to wait in line for what isn't free; not at all without it.", whole)
    .passThroughOptions();
  examples(
    command,
    'dibs run --scope db:main --wait 600 --intent "migrate" -- npm run migrate',
    'dibs run --scope src/auth --intent "rewrite the login" -- npm run codemod',
    'dibs run --scope source:tracker --intent "poll the tracker" -- ./poll.sh',
  );
  return running("run", command, finish, async (values, program, output) => {
    const { runHolding } = await import("../running/run.js");
    const plan = {
      program,
      scopes: values.scope as string[],
      mode: values.shared === true ? ("shared" as const) : ("exclusive" as const),
      intent: values.intent as string,
      project: values.project as string | undefined,
      leaseSeconds: values.lease as number | undefined,
      waitSeconds: values.wait as number | undefined,
      session: values.session as string | undefined,
    };
    return runHolding(plan, output);
  });
}

function up(finish: Finish): OwnCommand {
  const command = new Command("up")
    .description("Serve HTTP, MCP and the page.")
    .option("--host <address>", "Address to listen on (else DIBS_HOST). (default: 127.0.0.1)")
    .option("--port <n>", "Port to listen on, 0 for any free one (else DIBS_PORT). (default: 4747)")
    .option("--store <store>", STORE);
  examples(
    command,
    "dibs up",
    "dibs up --port 8080 --store sqlite:/srv/dibs/dibs.db",
    "PGPASSWORD=… dibs up --store postgres://dibs@db.example/dibs",
  );
  command.addHelpText(
    "after",
    `
With a postgres store any number of servers share it:
  DIBS_STORE               where a password may stand; other users see what is in --store
  DIBS_STORE_CONNECTIONS   connections of each of the server's two engines, at most (1..100). (default: 4)
  DIBS_MIGRATE             auto, or manual: refuse to start on an old schema until dibs migrate ran. (default: auto)`,
  );
  return running("up", command, finish, async ({ host, port, store }, _args, output) => {
    const { up } = await import("../up.js");
    const flags = { host: host as string, port: port as string, store: store as string };
    return up(flags, output);
  });
}

function mcp(finish: Finish): OwnCommand {
  const command = new Command("mcp").description("Serve MCP on stdin and stdout, for an agent's client to start.");
  examples(command, "claude mcp add dibs -- dibs mcp");
  return running("mcp", command, finish, async ({ session }, _args, output) => {
    const { mcp } = await import("../mcp.js");
    return mcp(session as string | undefined, output);
  });
}

function demo(finish: Finish): OwnCommand {
  const command = new Command("demo").description(
    "Show it: two agents race for a task, the winner is killed, the other takes over. In a store that goes away again.",
  );
  examples(command, "dibs demo");
  return running("demo", command, finish, async (_values, _args, output) => (await import("../demo.js")).demo(output));
}

/** One of the demo's racers, as a process of its own. */
function demoAgent(finish: Finish): OwnCommand {
  const command = new Command("demo-agent").argument("<ID>");
  const run: Run = async (_values, [id = ""], output) => (await import("../demo-agent.js")).demoAgent(id, output);
  return { ...running("demo-agent", command, finish, run), hidden: true };
}

function planApply(finish: Finish): OwnCommand {
  const command = new Command("apply")
    .description(
      "Create a plan's steps as tasks, all or none, from a YAML or JSON file: slug, title, and steps with key, content, depends_on (keys of other steps, or ids of tasks), labels, priority, … The same file again changes nothing.",
    )
    .argument("<FILE>", "the plan, or - for stdin")
    .option("--slug <text>", "The plan's name, instead of the file's.")
    .option("--project <id>", "Its project (id or key), instead of the file's.")
    .option("--add", "Add the steps that the plan hasn't yet, to a plan that is there.");
  examples(command, "dibs plan apply release.yaml", "dibs plan apply release.yaml --add");
  return running("plan apply", command, finish, async (values, [file = ""], output) => {
    const { applyPlan } = await import("../plan-apply.js");
    const { slug, project, add } = values as { slug?: string; project?: string; add?: boolean };
    return applyPlan({ file, slug, project, add: add === true }, output);
  });
}

function workspaceAdd(finish: Finish): OwnCommand {
  const command = new Command("add")
    .description("Add a workspace to the store itself, and print its admin's key, once.")
    .argument("<NAME>", "the new workspace");
  examples(command, "dibs workspace add team-a");
  return running("workspace add", command, finish, async (_values, [name = ""], output) => {
    const { addWorkspace } = await import("../workspace-add.js");
    return addWorkspace(name, output);
  });
}

const STORE = "sqlite:PATH or postgres://USER@HOST/DATABASE (else DIBS_STORE). (default: your own file)";

function migrate(finish: Finish): OwnCommand {
  const command = new Command("migrate")
    .description(
      "Bring the store's schema to what this Dibs needs, and say from which version to which. dibs up and every command on the store do it by themselves, unless DIBS_MIGRATE=manual.",
    )
    .option("--check", "Only say whether it is needed: exit status 0 if not, 4 if it is.")
    .option("--store <store>", STORE);
  examples(command, "dibs migrate --check", "dibs migrate --json");
  return running("migrate", command, finish, async ({ check, store }, _args, output) => {
    const { migrate } = await import("../migrate.js");
    return migrate({ store: store as string | undefined, check: check === true }, output);
  });
}

function restored(finish: Finish): OwnCommand {
  const command = new Command("restored")
    .description(
      "After the store was restored from a backup, before servers start on it: end every live lease, and lift all fences above whatever the lost time granted. Safe to repeat.",
    )
    .option("--store <store>", STORE);
  examples(command, "dibs restored", "dibs restored --store sqlite:/srv/dibs/dibs.db --json");
  return running("restored", command, finish, async ({ store }, _args, output) =>
    (await import("../restored.js")).restored(store as string | undefined, output),
  );
}

function exporting(finish: Finish): OwnCommand {
  const command = new Command("export")
    .description(
      "Write everything a store holds as lines of JSON: to keep it, or to move it, as from SQLite to Postgres. Keys are in it as hashes only, texts as they are: the file is readable by you alone.",
    )
    .argument("[FILE]", "a new file; without it, or as -, stdout")
    .option("--store <store>", STORE);
  examples(command, "dibs export backup.jsonl", "dibs export --store sqlite:/srv/dibs/dibs.db | gzip > dibs.jsonl.gz");
  return running("export", command, finish, async ({ store }, [file = "-"], output) =>
    (await import("../moving.js")).exportTo({ store: store as string | undefined, file }, output),
  );
}

function importing(finish: Finish): OwnCommand {
  const command = new Command("import")
    .description(
      "Make another tool's backlog a plan (--from, --plan), or fill a new store with what dibs export wrote (without any option). The same backlog again adds what is new in it. Rows that can't be imported are told one by one, the rest comes in, and the exit status is 1. A store is filled all or nothing, with the same state, leases and keys; the one it came from must not go on.",
    )
    .argument("<FILE>", "the file, or - for stdin")
    .addOption(
      new Option("--from <tool>", "What wrote the file; guessed where it isn't said.").choices([
        "beads",
        "task-master",
        "markdown",
        "github",
      ]),
    )
    .option("--plan <slug>", "The plan's name, instead of one made of the file's.")
    .option("--project <id>", "Its project (id or key).")
    .option("--tag <tag>", "Which of task-master's tags; master, or the only one, without it.")
    .option("--dry-run", "Say what would be created, and what is wrong.")
    .option("--store <store>", STORE);
  examples(
    command,
    "dibs import .beads/issues.jsonl --from beads --dry-run",
    "gh issue list --limit 500 --json number,title,body,labels,state | dibs import - --from github --plan issues",
    "dibs import TODO.md --plan todo",
    "dibs import backup.jsonl --store postgres://dibs@db/dibs",
  );
  return running("import", command, finish, async (values, [file = ""], output) => {
    const given = values as { store?: string; from?: Format; plan?: string; project?: string; tag?: string };
    const { store, from, plan, project, tag } = given;
    const dryRun = values.dryRun === true;
    // Whoever says any of these doesn't mean to fill a store.
    const isBacklog = dryRun || [from, plan, project, tag].some((option) => option !== undefined);
    if (!isBacklog) return (await import("../moving.js")).importFrom({ store, file }, output);
    const { importBacklog } = await import("../import-backlog.js");
    return importBacklog({ file, from, plan, project, tag, dryRun, store }, output);
  });
}
