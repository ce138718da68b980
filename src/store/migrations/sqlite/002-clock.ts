/**
 * With the last time decided: the machine's monotonic clock at that instant and the boot it counts from, so that a process
 * that starts later knows how much time has passed at least, whatever became of the wall clock.
 */
export const clockUptime = /* sql */ `
ALTER TABLE clock ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE clock ADD COLUMN uptime_ms INTEGER NOT NULL DEFAULT 0;
`;
