import type { Count, QueueCounts, Snapshot } from "./snapshot.js";

/** The room in five figures. */
export function Tally({ snapshot, counts, stale }: { snapshot: Snapshot; counts?: QueueCounts; stale: boolean }) {
  const agents = new Set(snapshot.held.map((row) => row.agent_id)).size;
  const held: Count = { value: snapshot.held.length, more: snapshot.moreHeld };
  return (
    <dl
      className={`mx-3 mb-3 grid grid-cols-6 overflow-hidden rounded-lg border border-line bg-panel sm:mx-4 sm:grid-cols-5 ${stale ? "opacity-60" : ""}`}
    >
      <Figure
        name="held now"
        count={held}
        tone={held.value > 0 ? "text-calm" : ""}
        beside={agents > 0 ? byAgents(agents) : ""}
      />
      <Figure name="ready to claim" count={snapshot.readyCount} />
      <Figure name="lapsed" count={counts?.lapsed} tone={counts?.lapsed.value ? "text-late" : ""} />
      <Figure
        name="not ready yet"
        count={counts?.later}
        tone={counts?.stalled.value ? "text-hot" : ""}
        beside={counts?.stalled.value ? `(${counts.stalled.value}${counts.stalled.more ? "+" : ""} stalled)` : ""}
      />
      <Figure name="failed" count={counts?.failed} tone={counts?.failed.value ? "text-hot" : ""} />
    </dl>
  );
}

const byAgents = (agents: number) => `by ${agents} ${agents === 1 ? "agent" : "agents"}`;

function Figure({
  name,
  count,
  tone = "",
  beside = "",
}: {
  name: string;
  count?: Count;
  tone?: string;
  beside?: string;
}) {
  return (
    <div className="max-sm:nth-[-n+2]:col-span-3 max-sm:nth-[n+3]:col-span-2 -ml-px -mt-px flex flex-col-reverse border-t border-l border-faint-line px-4 py-2.5">
      <dt className="text-xs text-faint">
        {name} {beside}
      </dt>
      <dd className={`text-2xl leading-tight font-semibold tabular-nums ${tone}`}>
        {count === undefined ? "–" : `${count.value}${count.more ? "+" : ""}`}
      </dd>
    </div>
  );
}
