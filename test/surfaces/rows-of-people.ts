import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

/** A name that no other row has used, and its word. */
function unused(at: Stage, word: string): string {
  const name = `${word}-${at.project.slice(-12)}`;
  at.names.set(name, word);
  return name;
}

const agents: Row[] = [
  {
    does: "adds an agent and shows its key, once (R48)",
    operation: "create_agent",
    as: "boss",
    given: (at) => ({ input: { name: unused(at, "builder"), role: "coordinator", display_name: "The Builder" } }),
    answers: {
      name: "builder",
      role: "coordinator",
      display_name: "The Builder",
      key: "<key>",
      keys: [{ expires_at: null }],
    },
  },
  {
    does: "refuses a name that is taken, in any letter case (R48)",
    operation: "create_agent",
    as: "boss",
    given: () => ({ input: { name: "ANN" } }),
    refused: { code: "already_exists" },
  },
  {
    does: "refuses a worker who would add an agent (R46)",
    operation: "create_agent",
    about: "roles",
    given: (at) => ({ input: { name: unused(at, "friend") } }),
    refused: { code: "forbidden" },
  },
  {
    does: "lists agents page by page, without their keys",
    operation: "list_agents",
    given: () => ({ input: { limit: 2 } }),
    answers: [{ role: "admin" }, { id: "ann", name: "ann", role: "worker" }],
    goesOn: true,
  },
  {
    does: "says who the caller is",
    operation: "get_me",
    given: () => ({ input: {} }),
    answers: { id: "ann", name: "ann", role: "worker", workspace: "default" },
  },
  {
    does: "reads an agent",
    operation: "get_agent",
    given: (at) => ({ input: { agent_id: at.lead.agentId } }),
    answers: { id: "lead", role: "coordinator" },
  },
  {
    does: "renames an agent and changes its role",
    operation: "update_agent",
    as: "boss",
    given: async (at) => {
      const { agentId } = await at.newPerson("somebody");
      return { input: { agent_id: agentId, name: unused(at, "renamed"), role: "coordinator", description: "Works." } };
    },
    answers: { id: "somebody", name: "renamed", role: "coordinator", description: "Works." },
  },
  {
    does: "refuses to delete an agent that holds something (R48)",
    operation: "delete_agent",
    as: "boss",
    given: async (at) => {
      const person = await at.newPerson("holder");
      await at.held(person);
      return { input: { agent_id: person.agentId } };
    },
    refused: { code: "agent_has_claims", claims: [{ task_id: "task 1", agent_name: "holder" }] },
  },
  {
    does: "deletes an agent by force, and frees what it holds (R48)",
    operation: "delete_agent",
    as: "boss",
    given: async (at) => {
      const person = await at.newPerson("holder");
      await at.held(person, { assigned_to_agent_id: person.agentId });
      return { input: { agent_id: person.agentId, force: true, reason: "its machine is gone" } };
    },
    answers: { deleted: true, id: "holder", tasks_released: 1, tasks_unassigned: 1 },
    leaves: async (at) =>
      expect(await at.ann.dibs.listTasks({ project_id: at.project, ready: true })).toMatchObject([
        { assigned_to_agent_id: null },
      ]),
  },
  {
    does: "gives an agent a new key, while the old one works on for a time (R48)",
    operation: "rotate_agent_key",
    as: "boss",
    given: async (at) => ({ input: { agent_id: (await at.newPerson("somebody")).agentId, grace_seconds: 60 } }),
    answers: { id: "somebody", key: "<key>", keys: [{ expires_at: "<time>" }, { expires_at: null }] },
  },
  {
    does: "revokes all keys of an agent at once (R48)",
    operation: "revoke_agent_key",
    as: "boss",
    given: async (at) => {
      const person = await at.newPerson("holder");
      await at.held(person);
      return { input: { agent_id: person.agentId, release: true } };
    },
    answers: { revoked: 1, tasks_released: 1 },
  },
];

const places: Row[] = [
  {
    does: "adds a project",
    operation: "create_project",
    as: "lead",
    given: (at) => ({ input: { key: unused(at, "team/web"), name: "The web shop", case_insensitive: true } }),
    answers: { key: "team/web", name: "The web shop", case_insensitive: true },
  },
  {
    does: "refuses a key that is taken",
    operation: "create_project",
    as: "lead",
    given: () => ({ input: { key: "default" } }),
    refused: { code: "already_exists" },
  },
  {
    does: "lists projects page by page",
    operation: "list_projects",
    given: () => ({ input: { limit: 1 } }),
    answers: [{ key: "default" }],
    goesOn: true,
  },
  {
    does: "reads a project by its key, slashes and all",
    operation: "get_project",
    given: async (at) => {
      const key = unused(at, "a/b.c");
      await at.lead.dibs.createProject({ key, name: "by key" });
      return { input: { project_id: key } };
    },
    answers: { key: "a/b.c", name: "by key" },
  },
  {
    does: "makes a project for a repository it doesn't know yet, named as its remote is, without who logs in there (R64)",
    operation: "project_for_repository",
    given: async (at) => {
      await at.lead.dibs.projectForRepository({ root_commit: "1".repeat(40) });
      return { input: { remote: `https://ann:secret@Example.org/acme/${unused(at, "shop")}.git` } };
    },
    answers: { key: "shop", name: "shop", repositories: ["example.org/acme/shop"] },
  },
  {
    does: "finds a repository's project again, whichever way its remote is written (R64)",
    operation: "project_for_repository",
    given: async (at) => {
      await at.lead.dibs.projectForRepository({ project: at.project, remote: `git@example.org:${at.project}.git` });
      return { input: { remote: `ssh://ben@example.org:22/${at.project}/` } };
    },
    answers: { id: "the project", repositories: ["example.org/the project"] },
    status: 200,
  },
  {
    does: "refuses to guess which repository is meant",
    operation: "project_for_repository",
    given: () => ({ input: { remote: "../shop" } }),
    refused: { code: "invalid_input", fields: [{ field: "remote", message: expect.any(String) }] },
  },
  {
    does: "lists the project of one repository",
    operation: "list_projects",
    given: async (at) => {
      const root = `${at.project}01234567`;
      await at.lead.dibs.projectForRepository({ project: at.project, root_commit: root });
      return { input: { repository: `root:${root}`, limit: 10 } };
    },
    answers: [{ id: "the project" }],
  },
  {
    does: "renames a project",
    operation: "update_project",
    as: "lead",
    given: (at) => ({ input: { project_id: at.project, name: "renamed" } }),
    answers: { id: "the project", name: "renamed" },
  },
  {
    does: "reads the workspace and its settings",
    operation: "get_workspace",
    given: () => ({ input: {} }),
    answers: { name: "default", lease_seconds_default: 300, lease_seconds_min: 30, lease_seconds_max: 3600 },
  },
  {
    does: "changes a setting",
    operation: "update_workspace",
    as: "boss",
    given: () => ({ input: { max_attempts: 5, lease_seconds_default: 300 } }),
    answers: { max_attempts: 5, lease_seconds_default: 300, claims_per_agent_max: 10_000 },
  },
  {
    does: "refuses settings that contradict each other",
    operation: "update_workspace",
    as: "boss",
    given: () => ({ input: { lease_seconds_min: 400 } }),
    refused: { code: "invalid_input", fields: [{ field: "lease_seconds_default", message: expect.any(String) }] },
  },
];

/** Sessions, agents with their keys, projects and the workspace. */
export const rowsOfPeople: readonly Row[] = [...agents, ...places];
