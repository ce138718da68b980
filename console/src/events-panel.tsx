import { sentenceOf } from "./event-words.js";
import { Moment } from "./moment.js";
import { Nothing, Panel } from "./panel.js";
import type { Snapshot } from "./snapshot.js";

const DOTS = { calm: "bg-calm", late: "bg-late", hot: "bg-hot", far: "bg-far", faint: "bg-line" } as const;

interface EventsProps {
  readonly snapshot: Snapshot;
  readonly stale: boolean;
  readonly agentNames: ReadonlyMap<string, string> | undefined;
}

/** What happened last, the newest on top. */
export function EventsPanel({ snapshot, stale, agentNames }: EventsProps) {
  return (
    <Panel title="What happened" beside={snapshot.events.length > 0 && "newest first"} stale={stale}>
      {snapshot.events.length === 0 ? (
        <Nothing said="Nothing happened yet." />
      ) : (
        <ol>
          {snapshot.events.map((event) => {
            const { actor, verb, tone, object } = sentenceOf(event, snapshot.titles, agentNames);
            return (
              <li
                key={event.id}
                className="flex gap-3 px-4 py-1 text-[0.93rem] first:pt-2.5 last:pb-2.5 max-lg:nth-[n+21]:hidden"
              >
                <span className={`mt-1.5 size-2 shrink-0 rounded-full ${DOTS[tone]}`} aria-hidden="true" />
                <span className="said line-clamp-2 min-w-0 flex-1 text-soft">
                  {actor !== undefined && <span className="said font-medium text-ink">{actor}</span>} {verb}{" "}
                  {object !== undefined && <span className="said text-ink">{object}</span>}
                </span>
                <span className="text-xs leading-5 text-faint">
                  <Moment at={event.at} from={snapshot} />
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </Panel>
  );
}
