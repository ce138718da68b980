import { Moment } from "./moment.js";
import { shortId } from "./short-id.js";
import type { Snapshot } from "./snapshot.js";

/** What is frozen, above what is held: nobody can claim it, whoever holds something goes on. */
export function HoldsList({ snapshot }: { snapshot: Snapshot }) {
  if (snapshot.holds.length === 0) return null;
  return (
    <ul aria-label="Frozen" className="border-b border-line bg-late-wash px-4 py-2 text-sm">
      {snapshot.holds.map((hold) => (
        <li key={hold.id} className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium text-late">frozen</span>
          <span className="said font-mono text-xs" title={hold.scope ?? hold.project_id}>
            {hold.scope ?? `project ${shortId(hold.project_id)}`}
          </span>
          <span className="text-xs text-soft">
            until <Moment at={hold.expires_at} from={snapshot} />, by <span className="said">{hold.agent_name}</span>:
          </span>
          <span className="said min-w-0 flex-1 truncate text-xs" title={hold.reason}>
            {hold.reason}
          </span>
        </li>
      ))}
    </ul>
  );
}
