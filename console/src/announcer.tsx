import { useEffect, useRef, useState } from "react";
import type { Snapshot } from "./snapshot.js";

/** A busy room must not talk without end: what changed is gathered for so long before it is said. */
const GATHER_MS = 5_000;

/** Says to a screen reader, politely and summed up, what changed in the table of claims. */
export function Announcer({ snapshot, stale }: { snapshot: Snapshot; stale: boolean }) {
  const [said, setSaid] = useState("");
  const told = useRef({ leases: new Set(snapshot.held.map((row) => row.lease_id)), atMs: performance.now(), stale });

  useEffect(() => {
    const before = told.current;
    if (stale !== before.stale) {
      told.current = { ...before, stale };
      setSaid(stale ? "Connection to the server lost." : "Connected again.");
      return;
    }
    const nowMs = performance.now();
    if (nowMs - before.atMs < GATHER_MS) return;
    const leases = new Set(snapshot.held.map((row) => row.lease_id));
    const begun = [...leases].filter((id) => !before.leases.has(id)).length;
    const ended = [...before.leases].filter((id) => !leases.has(id)).length;
    if (begun + ended === 0) return;
    told.current = { leases, atMs: nowMs, stale };
    setSaid(`${begun} claimed, ${ended} ended, ${leases.size} held now.`);
  }, [snapshot, stale]);

  return (
    <p aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}
