/**
 * Which task waits for which. The counts stand on the task, so that the queue's index alone says what is ready: a claim
 * joins nothing. `open_blockers` counts those not completed; `has_dependents` says that somebody may wait for the task,
 * so that finishing one for which nobody waits asks nothing.
 */
export const dependencies = /* sql */ `
ALTER TABLE tasks ADD COLUMN blockers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN open_blockers INTEGER NOT NULL DEFAULT 0 CHECK (open_blockers >= 0);
ALTER TABLE tasks ADD COLUMN has_dependents INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_blocked ON tasks (workspace_id, priority DESC, seq) WHERE open_blockers > 0;

-- A blocker can't go without its edges: whoever deletes it must count them off first.
CREATE TABLE dependencies (
  task_seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE,
  blocker_seq INTEGER NOT NULL REFERENCES tasks(seq),
  PRIMARY KEY (task_seq, blocker_seq)
) WITHOUT ROWID;
CREATE INDEX dependencies_blocker ON dependencies (blocker_seq, task_seq);
`;
