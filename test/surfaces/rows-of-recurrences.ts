import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const FULL = {
  name: "nightly: ünïcode, 🦉",
  content: "Run the long tests",
  description: "First line\n\tsecond line",
  cron: "30 2 * * 1-5",
  time_zone: "Europe/Berlin",
  skip_if_open: true,
  labels: ["tests", "two words"],
  priority: 3,
  max_attempts: 2,
  context: { suite: { of: [1, null, "x"] } },
};
const ANSWER = { ...FULL, project_id: "the project", enabled: true, next_at: "<time>", last_at: null, version: 1 };

/** A recurrence of this row's project, with a word for its id. */
async function made(at: Stage, fields: object = {}) {
  const recurrence = await at.lead.dibs.createRecurrence({ ...FULL, project_id: at.project, ...fields });
  at.names.set(recurrence.id, `the recurrence ${recurrence.name}`);
  return recurrence;
}

/** Templates that make a task at every tick. */
export const rowsOfRecurrences: readonly Row[] = [
  {
    does: "makes what recurs, with all that its tasks are to have",
    operation: "create_recurrence",
    as: "lead",
    given: (at) => ({ input: { ...FULL, project_id: at.project } }),
    answers: { ...ANSWER, created_by_agent_id: "lead", last_task_id: null, assigned_to_agent_id: null },
  },
  {
    does: "goes by UTC, for anybody and at every tick, where nothing else is said",
    operation: "create_recurrence",
    as: "lead",
    given: (at) => ({ input: { name: "n", content: "x", cron: "@hourly", project_id: at.project } }),
    answers: { time_zone: "UTC", skip_if_open: false, enabled: true, labels: [], priority: 2, max_attempts: null },
  },
  {
    does: "refuses a worker (R46)",
    operation: "create_recurrence",
    about: "roles",
    given: (at) => ({ input: { ...FULL, project_id: at.project } }),
    refused: { code: "forbidden" },
  },
  {
    does: "refuses a name that is taken in the project",
    operation: "create_recurrence",
    as: "lead",
    given: async (at) => {
      await made(at);
      return { input: { ...FULL, project_id: at.project } };
    },
    refused: { code: "already_exists" },
    leaves: async (at) => expect(await at.ann.dibs.listRecurrences({ project_id: at.project })).toHaveLength(1),
  },
  {
    does: "refuses times that never come",
    operation: "create_recurrence",
    as: "lead",
    given: (at) => ({ input: { ...FULL, project_id: at.project, cron: "0 0 31 4,6 *" } }),
    refused: { code: "invalid_input", fields: [{ field: "cron", message: expect.stringMatching(/^never comes/) }] },
    leaves: async (at) => expect(await at.ann.dibs.listRecurrences({ project_id: at.project })).toEqual([]),
  },
  {
    does: "lists what recurs in a project, cut at its limit",
    operation: "list_recurrences",
    given: async (at) => {
      for (const name of ["one", "two", "three"]) await made(at, { name });
      return { input: { project_id: at.project, limit: 2 } };
    },
    answers: [{ name: "one" }, { name: "two" }],
    goesOn: true,
  },
  {
    does: "reads what recurs, with its next tick",
    operation: "get_recurrence",
    given: async (at) => ({ input: { recurrence_id: (await made(at)).id } }),
    answers: { ...ANSWER, id: `the recurrence ${FULL.name}` },
  },
  {
    does: "changes the fields named and no other, if the version is the one expected",
    operation: "update_recurrence",
    as: "lead",
    given: async (at) => {
      const { id, version } = await made(at);
      const input = { recurrence_id: id, cron: "0 6 * * *", labels: null, enabled: false };
      return { input, ifVersion: version };
    },
    answers: { ...ANSWER, cron: "0 6 * * *", labels: [], enabled: false, next_at: null, version: 2 },
  },
  {
    does: "refuses a change of another version, and says which it is",
    operation: "update_recurrence",
    as: "lead",
    given: async (at) => ({ input: { recurrence_id: (await made(at)).id, priority: 1 }, ifVersion: 7 }),
    refused: { code: "version_mismatch", version: 1 },
  },
  {
    does: "refuses a zone that there isn't",
    operation: "update_recurrence",
    as: "lead",
    given: async (at) => ({ input: { recurrence_id: (await made(at)).id, time_zone: "Europe/Atlantis" } }),
    refused: { code: "invalid_input", fields: [{ field: "time_zone", message: expect.stringMatching(/IANA/) }] },
  },
  {
    does: "deletes what recurs",
    operation: "delete_recurrence",
    as: "lead",
    given: async (at) => ({ input: { recurrence_id: (await made(at)).id } }),
    answers: { deleted: true, id: `the recurrence ${FULL.name}` },
    leaves: async (at) => expect(await at.ann.dibs.listRecurrences({ project_id: at.project })).toEqual([]),
  },
];
