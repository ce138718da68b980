import { useEffect, useRef, useState } from "react";
import type { HeldRow, Snapshot } from "./snapshot.js";

/** How long a claim that ended stays in sight, so that an eye on it sees where it went. */
const FAREWELL_MS = 1_500;
/** A claim that vanished with less than this left ran out between two looks. */
const RAN_OUT_MS = 1_200;

/** A row as it is shown: `ended` says how it ended, while it takes its leave. */
export interface ShownRow {
  readonly row: HeldRow;
  readonly ended: string | undefined;
}

const ENDINGS: Readonly<Record<string, string>> = {
  "task.completed": "completed",
  "task.failed": "failed",
  "task.released": "released",
  "task.cancelled": "cancelled",
  "task.handed_off": "handed over",
  "scope.handed_off": "handed over",
  "session.ended": "released",
  "lease.expired": "lapsed",
};

/** The held rows of the snapshot, and for a moment those that have just left it, each in its place. */
export function useDepartures(snapshot: Snapshot): ShownRow[] {
  const previous = useRef<readonly HeldRow[]>(snapshot.held);
  const [leaving, setLeaving] = useState<readonly { row: HeldRow; ended: string }[]>([]);

  useEffect(() => {
    const present = new Set(snapshot.held.map((row) => row.lease_id));
    const gone = previous.current.filter((row) => !present.has(row.lease_id));
    previous.current = snapshot.held;
    if (gone.length === 0) return;
    const farewells = gone.map((row) => ({ row, ended: howItEnded(row, snapshot) }));
    setLeaving((others) => [...others, ...farewells]);
    setTimeout(() => setLeaving((others) => others.filter((one) => !farewells.includes(one))), FAREWELL_MS);
  }, [snapshot]);

  const present = new Set(snapshot.held.map((row) => row.lease_id));
  const shown: ShownRow[] = snapshot.held.map((row) => ({ row, ended: undefined }));
  shown.push(...leaving.filter(({ row }) => !present.has(row.lease_id)));
  return shown.sort((a, b) => b.row.claimed_at.localeCompare(a.row.claimed_at) || b.row.id.localeCompare(a.row.id));
}

function howItEnded(row: HeldRow, snapshot: Snapshot): string {
  if (row.deadlineMs - snapshot.receivedAtMs < RAN_OUT_MS) return "lapsed";
  const event = snapshot.events.find(({ type, task_id }) => task_id === row.task_id && type in ENDINGS);
  return (event && ENDINGS[event.type]) ?? "ended";
}
