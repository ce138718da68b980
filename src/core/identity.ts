import { AGENT_NAME, AGENT_NAME_RULE } from "../contract/agent-name.js";
import { DibsError, invalidInput, isDibsError } from "../contract/errors.js";
import type { Caller, Operation } from "../contract/operation.js";
import { ROLES, type Role } from "../contract/operation.js";
import { SETTINGS_DEFAULT, type Settings } from "../contract/workspace.js";
import { keepAlive, newSession, signOfLife } from "./agents/session-life.js";
import type { EngineCall } from "./engine/outcome.js";
import { newId, sha256 } from "./ids.js";
import type { AgentRow, KeyRow, ProjectRow, SessionRow, WorkspaceRow } from "./port/rows.js";
import type { Tx } from "./port/store.js";
import type { QueueFilter } from "./port/verbs.js";

export const DEFAULT_WORKSPACE = "default";
export const DEFAULT_PROJECT = "default";

/** Thrown in a read transaction when the caller can only be known by writing; the engine runs the batch as a write. */
export class NeedsWrite extends Error {}

export interface Known {
  readonly agent: AgentRow;
  readonly role: Role;
  readonly settings: Settings;
}

type FileIdentity = Extract<Caller["identity"], { kind: "file" }>;

const fileAgentKey = ({ agent, workspace = DEFAULT_WORKSPACE }: FileIdentity) =>
  `${workspace}/${String(agent).toLowerCase()}`;

interface CachedKey {
  readonly key: KeyRow;
  readonly agentId: string;
}

/**
 * Who is calling. Identity comes from the credential alone (R45). What was read is remembered while nobody else wrote to
 * the store, so that most calls cost no query; any doubt (another process, a rollback, a change of agents) forgets it all.
 */
export class Identities {
  #keys = new Map<string, CachedKey>();
  #agents = new Map<string, Known>();
  #fileAgents = new Map<string, Known>();
  #sessions = new Map<string, SessionRow>();
  #implicit = new Map<string, SessionRow>();
  #projects = new Map<string, ProjectRow>();

  forget(): void {
    this.#keys.clear();
    this.#agents.clear();
    this.#fileAgents.clear();
    this.#sessions.clear();
    this.#implicit.clear();
    this.#projects.clear();
  }

  /** The caller's agent if it is known or can be read; undefined where a call would be refused, or has to write first. */
  async lookUp(tx: Tx, identity: Caller["identity"]): Promise<Known | undefined> {
    try {
      return await this.identify(tx, identity, "read");
    } catch (fault) {
      if (fault instanceof NeedsWrite || isDibsError(fault)) return undefined;
      throw fault;
    }
  }

  /** Whose queue a claim will look into, as far as the caller and the project are remembered. */
  queueOf({ caller, input }: Pick<EngineCall, "caller" | "input">): QueueFilter | undefined {
    const known = this.#remembered(caller.identity);
    if (!known) return undefined;
    const { id: agentId, workspace_id: workspaceId } = known.agent;
    // A plan has to be looked up first.
    if (input.plan !== undefined) return undefined;
    const project = input.project_id === undefined ? null : this.#projects.get(`${workspaceId}/${input.project_id}`);
    if (project === undefined) return undefined;
    return {
      workspaceId,
      agentId,
      projectId: project?.id ?? null,
      labels: (input.labels ?? []) as string[],
      plan: null,
    };
  }

  #remembered(identity: Caller["identity"]): Known | undefined {
    if (identity.kind === "file") return this.#fileAgents.get(fileAgentKey(identity));
    if (identity.kind !== "key") return undefined;
    return this.#agents.get(this.#keys.get(identity.key)?.agentId ?? "");
  }

  /** A project by id or key. */
  async project(tx: Tx, workspaceId: string, idOrKey: string): Promise<ProjectRow | undefined> {
    const name = `${workspaceId}/${idOrKey}`;
    const row = this.#projects.get(name) ?? (await tx.workspaces.project(workspaceId, idOrKey));
    if (row) this.#projects.set(name, row);
    return row;
  }

  /** The caller's agent, or 401; one answer for unknown, expired and revoked keys alike. */
  async identify(tx: Tx, identity: Caller["identity"], mode: "read" | "write"): Promise<Known> {
    if (identity.kind === "file") {
      return this.#fileAgent(tx, identity, mode);
    }
    const agentId =
      identity.kind === "key" ? await this.#agentOfKey(tx, identity.key) : await agentOfCookie(tx, identity.token);
    const known = agentId === undefined ? undefined : await this.#agent(tx, agentId);
    if (!known) throw unauthorized(identity.kind);
    return known;
  }

  async #agentOfKey(tx: Tx, secret: string): Promise<string | undefined> {
    let cached = this.#keys.get(secret);
    if (!cached) {
      const key = await tx.agents.keyByHash(sha256(secret));
      if (!key) return undefined;
      cached = { key, agentId: key.agent_id };
      this.#keys.set(secret, cached);
    }
    const { ends_at } = cached.key;
    return ends_at === null || tx.nowMs < ends_at ? cached.agentId : undefined;
  }

  async #agent(tx: Tx, agentId: string): Promise<Known | undefined> {
    const cached = this.#agents.get(agentId);
    if (cached) return cached;
    const agent = await tx.agents.byAnyId(agentId);
    if (!agent) return undefined;
    const workspace = await tx.workspaces.byId(agent.workspace_id);
    const settings: Settings = { ...SETTINGS_DEFAULT, ...workspace?.settings };
    const known: Known = { agent, role: agent.role, settings };
    this.#agents.set(agentId, known);
    return known;
  }

  async #fileAgent(tx: Tx, identity: FileIdentity, mode: "read" | "write"): Promise<Known> {
    const { agent: name, workspace: workspaceName = DEFAULT_WORKSPACE } = identity;
    if (typeof name !== "string" || !AGENT_NAME.test(name)) {
      throw invalidInput("agent", `${AGENT_NAME_RULE}; name the caller so (on the command line with DIBS_AGENT)`);
    }
    const cacheKey = fileAgentKey(identity);
    const cached = this.#fileAgents.get(cacheKey);
    if (cached) return cached;
    const workspace = await tx.workspaces.byName(workspaceName);
    if (!workspace) {
      throw new DibsError(
        "not_found",
        `There is no workspace "${workspaceName}"; make it: dibs workspace add NAME.`,
        {},
      );
    }
    const found = await tx.agents.byName(workspace.id, name);
    if (!found && mode === "read") throw new NeedsWrite();
    const agentId = found?.id ?? (await addAgent(tx, workspace, name, "worker"));
    const agent = await this.#agent(tx, agentId);
    if (!agent) throw new Error("An agent that was just made is not there.");
    const known: Known = { agent: agent.agent, role: "admin", settings: agent.settings };
    this.#fileAgents.set(cacheKey, known);
    return known;
  }

  /** The session a call names: the agent's own, or 404. Whether it has ended is the caller's question. */
  async session(tx: Tx, agent: AgentRow, sessionId: string): Promise<SessionRow> {
    const known = this.#sessions.get(sessionId);
    // One that looks dead may have shown a sign of life to another node.
    const live = known && (known.expires_at === null || known.expires_at > tx.nowMs);
    const row = live ? known : await tx.sessions.byId(agent.workspace_id, sessionId);
    if (!row || row.agent_id !== agent.id) {
      throw new DibsError("not_found", `There is no session ${sessionId} of yours; open one: open_session.`, {});
    }
    this.#sessions.set(sessionId, row);
    return row;
  }

  /** The agent's open implicit session (R13), if it has one. */
  async implicitSession(tx: Tx, agent: AgentRow): Promise<SessionRow | null> {
    const row = this.#implicit.get(agent.id) ?? (await tx.sessions.implicitOf(agent.id));
    if (row) this.#implicit.set(agent.id, row);
    return row ?? null;
  }

  /** The agent's implicit session; a call that is granted several tasks opens it once. */
  async openImplicit(tx: Tx, agent: AgentRow): Promise<SessionRow> {
    const open = await this.implicitSession(tx, agent);
    if (open) return open;
    const row = newSession(tx.nowMs, agent, { implicit: 1, ttl_seconds: null });
    await tx.sessions.insert(row);
    const stored = await tx.sessions.byId(agent.workspace_id, row.id);
    if (!stored) throw new Error("A session that was just opened is not there.");
    this.#implicit.set(agent.id, stored);
    return stored;
  }

  /**
   * A sign of life (R9). Sparse callers get their exact end; a session that calls more often than every quarter of its
   * TTL gets an eighth on top, so that the calls in between need no write.
   */
  async touch(tx: Tx, session: SessionRow): Promise<SessionRow> {
    const touched = signOfLife(session, tx.nowMs);
    if (!touched) return session;
    const { alive, parents } = await keepAlive(tx, touched);
    for (const parent of parents) this.#sessions.set(parent.id, parent);
    if (!alive) return session;
    this.#sessions.set(session.id, touched);
    return touched;
  }
}

export async function addAgent(tx: Tx, workspace: Pick<WorkspaceRow, "id">, name: string, role: Role): Promise<string> {
  const id = newId(tx.nowMs);
  const row = { id, workspace_id: workspace.id, name, role, display_name: null, description: null };
  await tx.agents.insert({ ...row, created_at: tx.nowMs, deleted_at: null });
  return id;
}

async function agentOfCookie(tx: Tx, token: string): Promise<string | undefined> {
  const secret = await tx.agents.secret(sha256(token), "cookie");
  return secret && tx.nowMs < secret.expires_at ? secret.agent_id : undefined;
}

function unauthorized(kind: "key" | "cookie"): DibsError<"unauthorized"> {
  const text =
    kind === "key"
      ? "The key is unknown, expired or revoked; ask an admin for one: dibs agent add NAME."
      : "The sign-in has ended; open a new link: dibs up prints one.";
  return new DibsError("unauthorized", text, {});
}

/** Roles are cumulative (R46). */
export function roleAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

export function requireRole(operation: Operation, known: Known): void {
  if (roleAtLeast(known.role, operation.role)) return;
  throw new DibsError(
    "forbidden",
    `${operation.name} needs the role ${operation.role}; ${known.agent.name} is a ${known.role}.`,
    {},
  );
}
