import { Age } from "./moment.js";
import type { Snapshot } from "./snapshot.js";

interface Item {
  readonly id: string;
  readonly head: string;
  readonly scopes: readonly string[];
  readonly who: string;
  readonly since: string;
  readonly intent: string | null;
}

/** Who stands in line for scopes, first who is next. */
export function WaitsList({ snapshot }: { snapshot: Snapshot }) {
  const items = snapshot.waits.map((wait) => ({
    id: wait.ticket,
    head: wait.state === "offered" ? "offered" : `number ${wait.position}`,
    scopes: wait.scopes.map(({ scope }) => scope),
    who: wait.agent_name,
    since: wait.asked_at,
    intent: wait.intent,
  }));
  return <ScopeList label="Waiting in line" title="In line" items={items} snapshot={snapshot} />;
}

/** Work on branches that aren't on their base yet, under what is held: it keeps nobody from anything. */
export function UnlandedList({ snapshot }: { snapshot: Snapshot }) {
  const items = snapshot.unlanded.map((work) => ({
    id: work.id,
    head: work.branch,
    scopes: work.scopes,
    who: work.agent_deleted ? `${work.agent_name} (deleted)` : work.agent_name,
    since: work.declared_at,
    intent: work.intent,
  }));
  return <ScopeList label="Unlanded work" title="Not landed yet" items={items} snapshot={snapshot} />;
}

interface Listed {
  readonly label: string;
  readonly title: string;
  readonly items: readonly Item[];
  readonly snapshot: Snapshot;
}

function ScopeList({ label, title, items, snapshot }: Listed) {
  if (items.length === 0) return null;
  return (
    <section aria-label={label} className="border-t border-line px-4 py-2 text-sm">
      <h3 className="text-xs font-medium text-faint">{title}</h3>
      <ul>
        {items.map(({ id, head, scopes, who, since, intent }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-2">
            <span className="said font-medium">{head}</span>
            <span className="said min-w-0 truncate font-mono text-xs" title={scopes.join(", ")}>
              {scopes.slice(0, 3).join(", ")}
              {scopes.length > 3 && ` and ${scopes.length - 3} more`}
            </span>
            <span className="text-xs text-faint">
              <span className="said">{who}</span>, <Age at={since} from={snapshot} />
            </span>
            {intent !== null && <span className="said min-w-0 flex-1 truncate text-xs">{intent}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
