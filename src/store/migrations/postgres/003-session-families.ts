/** Sessions have parents, are resumed by a token that is kept as its hash, and leave findings. */
export const sessionFamilies = /* sql */ `
ALTER TABLE sessions ADD COLUMN parent_session_id text;
ALTER TABLE sessions ADD COLUMN share_with_children bigint NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN resume_hash text;
ALTER TABLE sessions ADD COLUMN findings text;
CREATE INDEX sessions_children ON sessions (parent_session_id, seq) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_findings ON sessions (workspace_id, seq) WHERE findings IS NOT NULL;
`;
