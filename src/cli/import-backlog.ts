import { basename } from "node:path";
import type { Dibs } from "../client/dibs.js";
import { readConfig } from "../config.js";
import { EXIT, invalidInput, isDibsError } from "../contract/errors.js";
import type { Plan } from "../contract/plan.js";
import { connect } from "./connect.js";
import { readGiven } from "./given-file.js";
import type { Backlog, BacklogItem } from "./imports/backlog.js";
import { detectFormat, type Format, IMPORTERS } from "./imports/formats.js";
import type { Output } from "./output.js";
import { shown } from "./shown/shown-text.js";

interface Wanted {
  readonly file: string;
  readonly from: Format | undefined;
  readonly plan: string | undefined;
  readonly project: string | undefined;
  readonly tag: string | undefined;
  readonly dryRun: boolean;
  /** Where there is no server. */
  readonly store: string | undefined;
}

/** Makes another tool's backlog a plan; again, with what is new in it. Bad rows are told one by one, the rest comes in. */
export async function importBacklog(wanted: Wanted, output: Output): Promise<number> {
  const text = await readGiven(wanted.file);
  if (text.startsWith('{"dibs_export"')) {
    throw invalidInput("FILE", "is an export of Dibs, which fills a new store; leave out all options but --store");
  }
  const format = wanted.from ?? detectFormat(wanted.file, text);
  if (!format)
    throw invalidInput("--from", `is required: the file could be any of ${Object.keys(IMPORTERS).join(", ")}`);
  const backlog = IMPORTERS[format](text, wanted.tag === undefined ? {} : { tag: wanted.tag });
  const slug = wanted.plan ?? slugOf(wanted.file, format);
  const report = await brought(backlog, slug, wanted);
  if (output.json) output.value({ format, plan: slug, dry_run: wanted.dryRun, ...report });
  else output.data([summary(wanted, format, slug, report)]);
  output.say(...backlog.bad.map(badLine(wanted.file)));
  return backlog.bad.length > 0 ? EXIT.error : EXIT.ok;
}

/** A plan's name made of the file's. */
function slugOf(file: string, format: Format): string {
  const name = basename(file)
    .replace(/\.\w+$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "");
  return name.slice(0, 64) || format;
}

interface Report {
  readonly created: number;
  readonly present: number;
  readonly closed: number;
  readonly skipped: Backlog["skipped"];
  readonly bad: Backlog["bad"];
}

async function brought(backlog: Backlog, slug: string, wanted: Wanted): Promise<Report> {
  const connection = await connect(readConfig({ DIBS_STORE: wanted.store }));
  try {
    const { dibs } = connection;
    const project = wanted.project === undefined ? {} : { project_id: wanted.project };
    const plan = await present(dibs, { slug, ...project });
    const known = new Set(plan?.steps.flatMap(({ key }) => key ?? []));
    const fresh = backlog.items.filter(({ key }) => !known.has(key));
    if (!wanted.dryRun && fresh.length > 0) {
      const steps = fresh.map(stepOf);
      if (plan) await dibs.addPlanSteps({ slug, ...project, steps });
      else await dibs.createPlan({ slug, ...project, steps });
    }
    const { closed, skipped, bad } = backlog;
    return { created: fresh.length, present: backlog.items.length - fresh.length, closed: closed.length, skipped, bad };
  } finally {
    await connection.close();
  }
}

async function present(dibs: Dibs, named: { slug: string; project_id?: string }): Promise<Plan | undefined> {
  try {
    return await dibs.getPlan(named);
  } catch (refusal) {
    if (isDibsError(refusal, "not_found")) return undefined;
    throw refusal;
  }
}

function stepOf(item: BacklogItem) {
  const { key, content, description, labels, priority, dependsOn, dueDate, notBefore } = item;
  return {
    key,
    content,
    priority,
    labels: [...labels],
    depends_on: [...dependsOn],
    ...(description !== undefined && { description }),
    ...(dueDate !== undefined && { due_date: dueDate }),
    ...(notBefore !== undefined && { not_before: notBefore }),
  };
}

function summary({ file, dryRun }: Wanted, format: Format, slug: string, report: Report): string {
  const { created, present: there, closed, skipped, bad } = report;
  const parts = [
    `${created} ${created === 1 ? "task" : "tasks"} ${dryRun ? "would be created" : "created"}`,
    ...(there > 0 ? [`${there} there already`] : []),
    ...(closed > 0 ? [`${closed} done there`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} no tasks`] : []),
    ...(bad.length > 0 ? [`${bad.length} can't be imported`] : []),
  ];
  return `${shown(basename(file))} (${format}) as plan ${slug}: ${parts.join(", ")}.`;
}

const badLine =
  (file: string) =>
  ({ row, column, key, message }: Backlog["bad"][number]): string => {
    const where = `${basename(file)} line ${row}${column === undefined ? "" : `, column ${column}`}`;
    return shown(`${where}${key === undefined ? "" : ` (${key})`}: ${message}`);
  };
