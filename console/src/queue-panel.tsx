import { Age } from "./moment.js";
import { Command, Nothing, Panel } from "./panel.js";
import { shortId } from "./short-id.js";
import type { Snapshot, Task } from "./snapshot.js";
import { standingOf } from "./standing.js";

const SHOWN = 25;
const PRIORITY: Readonly<Record<number, { name: string; tone: string; bars: number }>> = {
  4: { name: "urgent", tone: "text-hot", bars: 4 },
  3: { name: "high", tone: "text-late", bars: 3 },
  2: { name: "normal", tone: "text-soft", bars: 2 },
  1: { name: "low", tone: "text-faint", bars: 1 },
};

interface QueueProps {
  readonly snapshot: Snapshot;
  /** The first of what waits for other tasks. */
  readonly blocked: readonly Task[];
  readonly stale: boolean;
  readonly agentNames: ReadonlyMap<string, string> | undefined;
}

/** What will be handed out next, in that order. */
export function QueuePanel({ snapshot, blocked, stale, agentNames }: QueueProps) {
  const shown = snapshot.ready.slice(0, SHOWN);
  const rest = snapshot.readyCount.value - shown.length;
  return (
    <Panel title="Next in the queue" beside={shown.length > 0 && "in hand-out order"} stale={stale}>
      {shown.length === 0 ? (
        <Nothing said="Nothing is ready to claim.">
          {snapshot.held.length === 0 && <Command>dibs task add "Fix the login test"</Command>}
        </Nothing>
      ) : (
        <ol>
          {shown.map((task) => (
            <QueuedTask key={task.id} task={task} snapshot={snapshot} agentNames={agentNames} />
          ))}
        </ol>
      )}
      {blocked.length > 0 && (
        <ol aria-label="Waiting for other tasks" className="border-t border-line">
          {blocked.map((task) => (
            <QueuedTask key={task.id} task={task} snapshot={snapshot} agentNames={agentNames} />
          ))}
        </ol>
      )}
      {rest > 0 && (
        <p className="px-4 py-2 text-xs text-faint">
          and {rest}
          {snapshot.readyCount.more ? " or more" : ""} after these
        </p>
      )}
    </Panel>
  );
}

function QueuedTask({ task, snapshot, agentNames }: { task: Task } & Omit<QueueProps, "stale" | "blocked">) {
  const nameOf = (id: string) => agentNames?.get(id) ?? shortId(id);
  const standing = standingOf(task);
  return (
    <li className="flex gap-3 border-b border-faint-line px-4 py-2 text-[0.96rem] last:border-0">
      <Priority value={task.priority} />
      <div className="min-w-0 flex-1">
        <span className="said line-clamp-2">{task.content}</span>
        <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-faint">
          {standing !== null && (
            <span
              className={`rounded px-1.5 font-medium ${standing === "stalled" ? "bg-hot-wash text-hot" : "border border-line text-soft"}`}
            >
              {standing === "frozen"
                ? standing
                : `${standing === "delegated" ? "delegated, waits for" : `${standing} by`} ${task.blocked_by_count}`}
            </span>
          )}
          {task.lapsed && (
            <span className="said rounded bg-late-wash px-1.5 font-medium text-late">
              lapsed{task.claimed_by_agent_id !== null && `, ${nameOf(task.claimed_by_agent_id)} had it`}
            </span>
          )}
          {task.requires_verdict && <Verdict task={task} />}
          {task.attempts > 0 && (
            <span>
              {task.attempts} of {task.max_attempts} attempts used
            </span>
          )}
          {task.assigned_to_agent_id !== null && <span className="said">for {nameOf(task.assigned_to_agent_id)}</span>}
          {task.labels.slice(0, 4).map((label) => (
            <span key={label} className="said max-w-40 truncate rounded border border-line px-1">
              {label}
            </span>
          ))}
          {task.labels.length > 4 && <span>+{task.labels.length - 4}</span>}
        </div>
      </div>
      <span className="text-xs text-faint">
        <Age at={task.created_at} from={snapshot} />
      </span>
    </li>
  );
}

/** What a task that requires a verdict has of it. */
function Verdict({ task: { verdict } }: { task: Task }) {
  const failed = verdict?.outcome === "fail";
  const words = verdict === null ? "requires a verdict" : `verdict: ${verdict.stale ? "stale" : verdict.outcome}`;
  return (
    <span
      className={`said rounded px-1.5 font-medium ${failed ? "bg-hot-wash text-hot" : "border border-line text-soft"}`}
      title={verdict?.note ?? undefined}
    >
      {words}
    </span>
  );
}

function Priority({ value }: { value: number }) {
  const { name, tone, bars } = PRIORITY[value] ?? { name: `priority ${value}`, tone: "text-soft", bars: 2 };
  return (
    <svg viewBox="0 0 16 14" className={`mt-1 h-3.5 w-4 shrink-0 ${tone}`} role="img" aria-label={`Priority ${name}`}>
      <title>{`Priority ${name}`}</title>
      {[1, 2, 3, 4].map((bar) => (
        <rect
          key={bar}
          x={(bar - 1) * 4}
          y={12 - bar * 3}
          width="2.6"
          height={bar * 3 + 1}
          rx="0.8"
          fill="currentColor"
          opacity={bar <= bars ? 1 : 0.22}
        />
      ))}
    </svg>
  );
}
