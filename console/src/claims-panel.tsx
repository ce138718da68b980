// biome-ignore-all lint/a11y/noRedundantRoles: on a phone rows are laid out as blocks, which loses the implied roles.
import { Countdown } from "./countdown.js";
import { type ShownRow, useDepartures } from "./departures.js";
import { HoldsList } from "./holds-list.js";
import { Age, Moment } from "./moment.js";
import { Command, Nothing, Panel } from "./panel.js";
import { UnlandedList, WaitsList } from "./scope-lists.js";
import { shortId } from "./short-id.js";
import type { Snapshot } from "./snapshot.js";

const COLUMNS: readonly (readonly [name: string, width: string])[] = [
  ["Agent", "w-56 xl:w-72"],
  ["Task", ""],
  ["Since", "w-32"],
  ["Time left", "w-44 xl:w-60"],
];

/** The table of everything held now. */
export function ClaimsPanel({ snapshot, stale }: { snapshot: Snapshot; stale: boolean }) {
  const rows = useDepartures(snapshot);
  const beside = snapshot.moreHeld ? `the newest ${snapshot.held.length} of more` : "newest first";
  return (
    <Panel
      title="Who holds what"
      beside={rows.length > 0 && beside}
      stale={stale}
      className="md:max-lg:col-span-2 lg:row-span-2"
    >
      <HoldsList snapshot={snapshot} />
      {rows.length === 0 ? (
        <NobodyHoldsAnything snapshot={snapshot} />
      ) : (
        <table role="table" className="w-full table-fixed border-collapse text-left max-sm:block">
          <caption className="sr-only">
            Claims held now, with who holds them, since when and how long the lease still runs
          </caption>
          <thead role="rowgroup" className="sticky top-0 z-10 bg-panel max-sm:sr-only">
            <tr role="row">
              {COLUMNS.map(([name, width]) => (
                <th
                  key={name}
                  role="columnheader"
                  scope="col"
                  className={`border-b border-line px-4 py-2 text-xs font-medium text-faint ${width}`}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup" className="max-sm:block">
            {rows.map((shown) => (
              <ClaimRow key={shown.row.lease_id} shown={shown} snapshot={snapshot} stale={stale} />
            ))}
          </tbody>
        </table>
      )}
      <WaitsList snapshot={snapshot} />
      <UnlandedList snapshot={snapshot} />
    </Panel>
  );
}

function ClaimRow({ shown: { row, ended }, snapshot, stale }: { shown: ShownRow; snapshot: Snapshot; stale: boolean }) {
  const origin = [row.client, row.branch].filter((part) => part !== null);
  const cell = "px-4 py-2.5 align-top max-sm:block max-sm:p-0";
  return (
    <tr
      role="row"
      data-task={row.task_id}
      className={`border-b border-faint-line last:border-0 max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_8.5rem] max-sm:gap-x-4 max-sm:gap-y-1 max-sm:px-4 max-sm:py-3 ${ended === undefined ? "motion-safe:animate-arrive" : "text-faint motion-safe:animate-leave"}`}
    >
      <td role="cell" className={cell}>
        <span className="said block truncate font-medium" title={row.agent_name}>
          {row.agent_name}
        </span>
        <span className="flex items-baseline gap-x-2 text-xs text-faint">
          {origin.length > 0 && (
            <span className="said min-w-0 truncate" title={origin.join(", branch ")}>
              {origin.join(" · ")}
            </span>
          )}
          <span title={`Session ${row.session_id}`} className="font-mono whitespace-nowrap">
            {shortId(row.session_id)}
            {row.implicit && " (implicit)"}
          </span>
        </span>
      </td>
      <td role="cell" className={`${cell} max-sm:col-span-2 max-sm:row-start-2`}>
        <span className={`said line-clamp-3 ${ended === undefined ? "" : "line-through"}`} title={row.intent}>
          {row.intent}
        </span>
        <span className="block font-mono text-xs text-faint" title={row.scope}>
          {row.kind === "task" && row.task_id !== null ? `task ${shortId(row.task_id)}` : row.scope}
          {row.mode === "shared" && " (shared)"}
        </span>
        {row.offeredTo !== undefined && ended === undefined && (
          <span className="said block truncate text-xs text-far" title={row.offeredTo}>
            offers it to {row.offeredTo}
          </span>
        )}
      </td>
      <td role="cell" className={`${cell} text-soft max-sm:col-span-2 max-sm:text-xs`}>
        <Moment at={row.claimed_at} from={snapshot} />
        <span className="text-xs text-faint sm:block">
          <span className="sm:hidden"> · </span>
          <Age at={row.claimed_at} from={snapshot} />
        </span>
      </td>
      <td role="cell" className={`${cell} max-sm:col-start-2 max-sm:row-start-1`}>
        {ended === undefined ? <Countdown row={row} stale={stale} /> : <span>{ended}</span>}
      </td>
    </tr>
  );
}

function NobodyHoldsAnything({ snapshot }: { snapshot: Snapshot }) {
  if (snapshot.readyCount.value === 0) {
    return (
      <Nothing said="Nobody holds anything.">
        <p className="mt-1">Nothing is ready to be claimed either. A task comes into the queue like this:</p>
        <Command>dibs task add "Fix the login test"</Command>
      </Nothing>
    );
  }
  return (
    <Nothing said="Nobody holds anything.">
      <p className="mt-1">Tasks are ready. A worker takes the next, runs a command and completes it:</p>
      <Command>dibs work -- ./do-the-task.sh</Command>
    </Nothing>
  );
}
