import { Age } from "./moment.js";
import type { Snapshot } from "./snapshot.js";

/** Work on branches that aren't on their base yet, under what is held: it keeps nobody from anything. */
export function UnlandedList({ snapshot }: { snapshot: Snapshot }) {
  if (snapshot.unlanded.length === 0) return null;
  return (
    <section aria-label="Unlanded work" className="border-t border-line px-4 py-2 text-sm">
      <h3 className="text-xs font-medium text-faint">Not landed yet</h3>
      <ul>
        {snapshot.unlanded.map((work) => (
          <li key={work.id} className="flex flex-wrap items-baseline gap-x-2">
            <span className="said font-medium">{work.branch}</span>
            <span className="said min-w-0 truncate font-mono text-xs" title={work.scopes.join(", ")}>
              {work.scopes.slice(0, 3).join(", ")}
              {work.scopes.length > 3 && ` and ${work.scopes.length - 3} more`}
            </span>
            <span className="text-xs text-faint">
              <span className="said">{work.agent_name}</span>, <Age at={work.declared_at} from={snapshot} />
            </span>
            {work.intent !== null && <span className="said min-w-0 flex-1 truncate text-xs">{work.intent}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
