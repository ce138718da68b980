import { DibsError } from "../../contract/errors.js";
import { SETTINGS_DEFAULT } from "../../contract/workspace.js";
import { giveKey } from "../agents/agents.js";
import { addAgent, DEFAULT_PROJECT, DEFAULT_WORKSPACE } from "../identity.js";
import { newId, newSecret, sha256 } from "../ids.js";
import type { Store, Tx } from "../port/store.js";
import { afterRestore, type Restored } from "./restored.js";
import { retried, told } from "./retried.js";

const ADMIN = "admin";
const CODE_MS = 10 * 60 * 1000;
const COOKIE_MS = 30 * 24 * 3600 * 1000;

/** What the process that owns the store may do without a key: the file's or the database's permission is the right. */
export const adminActions = {
  /** Makes the default workspace and its default project where they aren't there yet. */
  async ensure_defaults(tx: Tx, _input: object): Promise<{ workspaceId: string }> {
    const found = await tx.workspaces.byName(DEFAULT_WORKSPACE);
    return { workspaceId: found?.id ?? (await addWorkspace(tx, DEFAULT_WORKSPACE)) };
  },

  /** Makes a workspace with an admin, whose key is returned this once. */
  async create_workspace(
    tx: Tx,
    { name }: { name: string },
  ): Promise<{ workspaceId: string; agentId: string; key: string }> {
    if (name.length === 0 || name.length > 100)
      throw new DibsError("already_exists", "A workspace's name has 1..100 characters.", {});
    if (await tx.workspaces.byName(name))
      throw new DibsError("already_exists", `There is a workspace ${name} already.`, {});
    const workspaceId = await addWorkspace(tx, name);
    const agentId = await addAgent(tx, { id: workspaceId }, ADMIN, "admin");
    return { workspaceId, agentId, key: await giveKey(tx, agentId) };
  },

  /**
   * The default workspace's first admin. Given a key, that key works from now on; without one, a key is made only when
   * the admin has none, and returned this once.
   */
  async ensure_admin(tx: Tx, { key }: { key?: string }): Promise<{ agentId: string; key?: string }> {
    const agentId = await firstAdmin(tx);
    if (key === undefined) {
      return (await tx.agents.liveKeys(agentId, tx.nowMs)).length > 0
        ? { agentId }
        : { agentId, key: await giveKey(tx, agentId) };
    }
    const hash = sha256(key);
    const found = await tx.agents.keyByHash(hash);
    // Whoever starts the server with it wants it to work, also when it was rotated away or its agent deleted.
    if (!found || found.ends_at !== null || !(await tx.agents.byAnyId(found.agent_id))) {
      await tx.agents.putKey({ id: newId(tx.nowMs), hash, agent_id: agentId, created_at: tx.nowMs, ends_at: null });
    }
    return { agentId };
  },

  /** A one-time code for the page's sign-in, good for 10 minutes. */
  async issue_sign_in_code(tx: Tx, _input: object): Promise<{ code: string }> {
    const agentId = await firstAdmin(tx);
    const code = newSecret();
    await tx.agents.dropSecretsBefore(tx.nowMs);
    await tx.agents.insertSecret(sha256(code), "code", agentId, tx.nowMs + CODE_MS);
    return { code };
  },

  /** Exchanges a code, once, for the page's cookie. */
  async redeem_sign_in_code(
    tx: Tx,
    { code }: { code: string },
  ): Promise<{ token: string; agentId: string; expiresAtMs: number }> {
    const hash = sha256(code);
    const found = await tx.agents.secret(hash, "code");
    if (!found || found.expires_at <= tx.nowMs) {
      throw new DibsError(
        "unauthorized",
        "The sign-in link was used already or is older than 10 minutes; dibs up prints a new one.",
        {},
      );
    }
    await tx.agents.dropSecret(hash);
    const token = newSecret();
    const expiresAtMs = tx.nowMs + COOKIE_MS;
    await tx.agents.insertSecret(sha256(token), "cookie", found.agent_id, expiresAtMs);
    return { token, agentId: found.agent_id, expiresAtMs };
  },

  /** Ends a sign-in. */
  async drop_sign_in(tx: Tx, { token }: { token: string }): Promise<{ ended: true }> {
    await tx.agents.dropSecret(sha256(token));
    return { ended: true };
  },

  /** Makes a store safe that was restored from a backup. */
  restored: (tx: Tx, _input: object): Promise<Restored> => afterRestore(tx),

  /** Proves that the store takes writes. */
  async ping(tx: Tx, _input: object): Promise<{ nowMs: number }> {
    // A transaction that writes nothing would find no disk too full: this one writes the time, with a change of no row.
    await tx.notes.forgetBefore(0, 1);
    return { nowMs: tx.nowMs };
  },
};

export type AdminAction = keyof typeof adminActions;
export type AdminResult<A extends AdminAction> = Awaited<ReturnType<(typeof adminActions)[A]>>;

export async function runAdmin<A extends AdminAction>(store: Store, action: A, input: object): Promise<AdminResult<A>> {
  const act = (tx: Tx) => adminActions[action](tx, input as never) as Promise<AdminResult<A>>;
  try {
    return await retried(() => store.transaction("write", act, { changesIdentities: action !== "ping" }));
  } catch (fault) {
    throw told(fault);
  }
}

/**
 * The default workspace's first admin, made where there is none. A worker may have the name already: on the bare file
 * agents are called as their users are.
 */
async function firstAdmin(tx: Tx): Promise<string> {
  const { workspaceId } = await adminActions.ensure_defaults(tx, {});
  for (let nth = 1; ; nth += 1) {
    const name = nth === 1 ? ADMIN : `${ADMIN}-${nth}`;
    const found = await tx.agents.byName(workspaceId, name);
    if (!found) return addAgent(tx, { id: workspaceId }, name, "admin");
    if (found.role === "admin") return found.id;
  }
}

async function addWorkspace(tx: Tx, name: string): Promise<string> {
  const id = newId(tx.nowMs);
  await tx.workspaces.insert({ id, name, settings: SETTINGS_DEFAULT, created_at: tx.nowMs });
  await tx.workspaces.insertProject({
    id: newId(tx.nowMs),
    workspace_id: id,
    key: DEFAULT_PROJECT,
    name: DEFAULT_PROJECT,
    case_insensitive: 0,
    created_at: tx.nowMs,
  });
  return id;
}
