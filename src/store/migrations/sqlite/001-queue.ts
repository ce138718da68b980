/** The task queue's tables. Times are integer ms; labels, contexts and results are JSON text. */
export const queueTables = /* sql */ `
CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), last_ms INTEGER NOT NULL, offset_ms INTEGER NOT NULL);
INSERT INTO clock VALUES (1, 0, 0);

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE projects (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL REFERENCES workspaces(id),
  key TEXT NOT NULL, name TEXT NOT NULL, case_insensitive INTEGER NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, key)
);

CREATE TABLE agents (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL REFERENCES workspaces(id),
  name TEXT NOT NULL, role TEXT NOT NULL, display_name TEXT, description TEXT,
  created_at INTEGER NOT NULL, deleted_at INTEGER
);
CREATE UNIQUE INDEX agents_name ON agents (workspace_id, lower(name)) WHERE deleted_at IS NULL;
CREATE TABLE keys (
  hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent_id TEXT NOT NULL REFERENCES agents(id),
  created_at INTEGER NOT NULL, ends_at INTEGER
) WITHOUT ROWID;
CREATE INDEX keys_agent ON keys (agent_id);
CREATE TABLE secrets (
  hash TEXT PRIMARY KEY, kind TEXT NOT NULL, agent_id TEXT NOT NULL REFERENCES agents(id), expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL, agent_id TEXT NOT NULL REFERENCES agents(id),
  project_id TEXT, state TEXT NOT NULL, implicit INTEGER NOT NULL,
  client TEXT, harness_id TEXT, host TEXT, cwd TEXT, branch TEXT, worktree TEXT,
  ttl_seconds INTEGER, started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, expires_at INTEGER, ended_at INTEGER
);
CREATE UNIQUE INDEX sessions_implicit ON sessions (agent_id) WHERE implicit = 1 AND state = 'open';
CREATE INDEX sessions_open ON sessions (agent_id) WHERE state = 'open';
CREATE INDEX sessions_silence ON sessions (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
CREATE INDEX sessions_workspace ON sessions (workspace_id, seq);

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL, project_id TEXT NOT NULL REFERENCES projects(id),
  priority INTEGER NOT NULL, status TEXT NOT NULL, queue INTEGER, wakes_at INTEGER,
  assigned_to TEXT NOT NULL, created_by TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, closed_at INTEGER, closed_by TEXT,
  not_before INTEGER, due_date INTEGER, cancel_requested INTEGER NOT NULL DEFAULT 0, state TEXT,
  lease_id TEXT, fence INTEGER NOT NULL DEFAULT 0, holder_agent TEXT, holder_session TEXT, claimed_at INTEGER,
  lease_seconds INTEGER, lease_until INTEGER, lapsed INTEGER NOT NULL DEFAULT 0,
  -- Last lines of defence; the rules are the core's.
  CHECK (status <> 'claimed' OR (lease_id IS NOT NULL AND holder_session IS NOT NULL AND lease_until IS NOT NULL)),
  CHECK (queue IS NULL OR status IN ('open', 'claimed')),
  CHECK (queue IS NOT 2 OR wakes_at IS NOT NULL)
);
-- Ready tasks in the order they are handed out, for all projects and for one. A claim pays for every index its row
-- stands in, so these hold what is ready and nothing else.
CREATE INDEX tasks_queue ON tasks (workspace_id, assigned_to, priority DESC, seq) WHERE queue = 1;
CREATE INDEX tasks_project_queue ON tasks (project_id, assigned_to, priority DESC, seq) WHERE queue = 1;
CREATE INDEX tasks_wake ON tasks (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX tasks_held ON tasks (holder_agent, holder_session, lease_until) WHERE status = 'claimed';
-- For lists and for what the clock frees: what is not closed in hand-out order, what went wrong, everything by age.
CREATE INDEX tasks_handout ON tasks (workspace_id, priority DESC, seq) WHERE queue IS NOT NULL;
CREATE INDEX tasks_closed ON tasks (workspace_id, status, seq) WHERE status IN ('failed', 'cancelled');
CREATE INDEX tasks_age ON tasks (workspace_id, seq);

CREATE TABLE task_texts (
  seq INTEGER PRIMARY KEY REFERENCES tasks(seq) ON DELETE CASCADE,
  content TEXT NOT NULL, description TEXT, labels TEXT NOT NULL, context TEXT, state_detail TEXT, progress TEXT,
  checkpoint TEXT, handoff_note TEXT, failure_reason TEXT, result TEXT, cancel_reason TEXT
);
CREATE TABLE task_labels (
  seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE, label TEXT NOT NULL,
  workspace_id TEXT NOT NULL, project_id TEXT NOT NULL, queue INTEGER, assigned_to TEXT NOT NULL, priority INTEGER NOT NULL,
  PRIMARY KEY (seq, label)
) WITHOUT ROWID;
CREATE INDEX task_labels_queue ON task_labels (workspace_id, label, queue, assigned_to, priority DESC, seq);
CREATE INDEX task_labels_project ON task_labels (project_id, label, queue, assigned_to, priority DESC, seq);

CREATE TABLE comments (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task_seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE,
  task_id TEXT NOT NULL, agent_id TEXT NOT NULL, body TEXT NOT NULL, kind TEXT NOT NULL, lease_id TEXT,
  created_at INTEGER NOT NULL
);
CREATE INDEX comments_task ON comments (task_seq, seq);
CREATE UNIQUE INDEX comments_late ON comments (lease_id) WHERE lease_id IS NOT NULL;
CREATE TABLE links (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task_seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE,
  task_id TEXT NOT NULL, agent_id TEXT NOT NULL, url TEXT NOT NULL, title TEXT, kind TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX links_task ON links (task_seq, seq);
CREATE TABLE notices (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, type TEXT NOT NULL, task_id TEXT,
  at INTEGER NOT NULL, message TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX notices_session ON notices (session_id, seq);

CREATE TABLE remembered (
  scope TEXT PRIMARY KEY, body_hash TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX remembered_age ON remembered (at);

-- The newest event is never deleted, so ids never come twice although they are not AUTOINCREMENT (2 µs an insert).
CREATE TABLE events (
  id INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL,
  agent_id TEXT, agent_name TEXT, session_id TEXT, project_id TEXT, task_id TEXT, data TEXT NOT NULL
);
CREATE INDEX events_workspace ON events (workspace_id, id);
CREATE INDEX events_task ON events (task_id, id) WHERE task_id IS NOT NULL;
`;
