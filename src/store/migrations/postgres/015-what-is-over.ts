/** What is over slows nothing; as in SQLite's step of that name. */
export const whatIsOver = /* sql */ `
DELETE FROM unlanded_scopes WHERE unlanded_seq IN (SELECT seq FROM unlanded WHERE ended_at IS NOT NULL);
CREATE INDEX unlanded_unended ON unlanded (workspace_id, seq) WHERE ended_at IS NULL;
CREATE INDEX unlanded_project ON unlanded (project_id, seq) WHERE ended_at IS NULL;
CREATE INDEX unlanded_offered ON unlanded (offered_to, seq) WHERE ended_at IS NULL;
CREATE INDEX scope_claims_lost ON scope_claims (holder_session, namespace, key, seq) WHERE ended_at IS NOT NULL;
CREATE INDEX yields_holder ON yields (holder_session, seq);
CREATE INDEX handoffs_offered ON handoffs (workspace_id, seq) WHERE state = 'offered';
`;
