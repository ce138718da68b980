import type { AgentRow, KeyRow } from "../../core/port/rows.js";
import type { AgentVerbs } from "../../core/port/verbs.js";
import { assignments, type Db, done, insertInto, valuesOf } from "./db.js";

const AGENT = [
  "id",
  "workspace_id",
  "name",
  "role",
  "display_name",
  "description",
  "created_at",
  "deleted_at",
] as const;
const AGENT_CHANGES = new Set(["name", "role", "display_name", "description", "deleted_at"]);
const INSERT_AGENT = insertInto("agents", AGENT);
const KEY = ["id", "hash", "agent_id", "created_at", "ends_at"] as const;
const INSERT_KEY = insertInto("keys", KEY);
const PUT_KEY = `${INSERT_KEY} ON CONFLICT (hash) DO UPDATE SET id = excluded.id, agent_id = excluded.agent_id,
  created_at = excluded.created_at, ends_at = excluded.ends_at`;

export function agentVerbs(db: Db): AgentVerbs {
  return {
    insert: (row) => done(db.run(INSERT_AGENT, ...valuesOf(row, AGENT))),
    byId: (workspaceId, id) =>
      db.get<AgentRow>(
        "SELECT * FROM agents WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL",
        id,
        workspaceId,
      ),
    byAnyId: (id) => db.get<AgentRow>("SELECT * FROM agents WHERE id = ? AND deleted_at IS NULL", id),
    byName: (workspaceId, name) =>
      db.get<AgentRow>(
        "SELECT * FROM agents WHERE workspace_id = ? AND lower(name) = lower(?) AND deleted_at IS NULL",
        workspaceId,
        name,
      ),
    list: (workspaceId, page) =>
      db.all<AgentRow>(
        "SELECT * FROM agents WHERE workspace_id = ? AND deleted_at IS NULL AND seq > ? ORDER BY seq LIMIT ?",
        workspaceId,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    update(id, change) {
      const { set, values } = assignments(change, AGENT_CHANGES);
      if (set) return done(db.run(`UPDATE agents SET ${set} WHERE id = ?`, ...values, id));
    },
    insertKey: (row) => done(db.run(INSERT_KEY, ...valuesOf(row, KEY))),
    putKey: (row) => done(db.run(PUT_KEY, ...valuesOf(row, KEY))),
    keyByHash: (hash) => db.get<KeyRow>("SELECT * FROM keys WHERE hash = ?", hash),
    liveKeys: (agentId, nowMs) =>
      db.all<KeyRow>(
        "SELECT * FROM keys WHERE agent_id = ? AND (ends_at IS NULL OR ends_at > ?) ORDER BY ends_at IS NULL, created_at, id",
        agentId,
        nowMs,
      ),
    endKey: (id, endsAtMs) => done(db.run("UPDATE keys SET ends_at = ? WHERE id = ?", endsAtMs, id)),
    insertSecret: (hash, kind, agentId, expiresAtMs) =>
      done(
        db.run(
          "INSERT INTO secrets (hash, kind, agent_id, expires_at) VALUES (?, ?, ?, ?)",
          hash,
          kind,
          agentId,
          expiresAtMs,
        ),
      ),
    secret: (hash, kind) => db.get("SELECT agent_id, expires_at FROM secrets WHERE hash = ? AND kind = ?", hash, kind),
    dropSecret: (hash) => done(db.run("DELETE FROM secrets WHERE hash = ?", hash)),
    dropSecretsBefore: (nowMs) => done(db.run("DELETE FROM secrets WHERE expires_at <= ?", nowMs)),
  };
}
