/** What one process does at a time: who does it, and until when. */
export const duties = /* sql */ `
CREATE TABLE duties (
  name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until_ms INTEGER NOT NULL
) WITHOUT ROWID;
`;
