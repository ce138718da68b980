/** Which task waits for which; as in SQLite's step of that name. */
export const dependencies = /* sql */ `
ALTER TABLE tasks ADD COLUMN blockers bigint NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN open_blockers bigint NOT NULL DEFAULT 0 CHECK (open_blockers >= 0);
ALTER TABLE tasks ADD COLUMN has_dependents bigint NOT NULL DEFAULT 0;
CREATE INDEX tasks_blocked ON tasks (workspace_id, priority DESC, seq) WHERE open_blockers > 0;

CREATE TABLE dependencies (
  task_seq bigint NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE,
  blocker_seq bigint NOT NULL REFERENCES tasks(seq),
  PRIMARY KEY (task_seq, blocker_seq)
);
CREATE INDEX dependencies_blocker ON dependencies (blocker_seq, task_seq);
`;
