import { ageText, useMoment } from "./clock.js";
import type { Names } from "./control-room.js";
import { Mark } from "./mark.js";
import type { Snapshot } from "./snapshot.js";

/** An answer older than this is worth a word, though the next question may still be under way. */
const QUIET_MS = 4_000;

interface HeaderProps {
  readonly names: Names | undefined;
  readonly snapshot: Snapshot;
  readonly stale: boolean;
  readonly onSignOut: () => void;
}

/** Whose room this is, who looks, and whether what is shown is the present. */
export function Header({ names, snapshot, stale, onSignOut }: HeaderProps) {
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 sm:px-5">
      <Mark />
      {names && (
        <span className="said max-w-[40vw] truncate border-l border-line pl-4 text-soft" title="Workspace">
          {names.workspace}
        </span>
      )}
      <h1 className="sr-only">Who holds what, now</h1>
      <span className="ml-auto flex items-center gap-4">
        {names && (
          <span className="said hidden max-w-[30vw] truncate text-faint sm:inline">
            <span className="text-soft">{names.viewer}</span>
            {names.role !== names.viewer && `, ${names.role}`}
          </span>
        )}
        <Pulse snapshot={snapshot} stale={stale} />
        <button
          type="button"
          onClick={onSignOut}
          className="rounded-md border border-line px-2.5 py-1 text-sm text-soft hover:bg-raised hover:text-ink"
        >
          Sign out
        </button>
      </span>
    </header>
  );
}

function Pulse({ snapshot, stale }: { snapshot: Snapshot; stale: boolean }) {
  const quiet = useMoment((nowMs) => {
    const ageMs = nowMs - snapshot.receivedAtMs;
    return ageMs > QUIET_MS ? ageText(ageMs) : "";
  });
  const said = stale ? "Not connected" : quiet === "" ? "Live" : `No answer for ${quiet}`;
  const tone = stale ? "text-hot" : quiet === "" ? "text-calm" : "text-late";
  return (
    <span className={`inline-flex items-center gap-2 text-sm font-medium whitespace-nowrap ${tone}`}>
      <span className="relative flex size-2" aria-hidden="true">
        {said === "Live" && (
          <span className="absolute inline-flex size-full rounded-full bg-current opacity-50 motion-safe:animate-ping" />
        )}
        <span className="relative inline-flex size-2 rounded-full bg-current" />
      </span>
      {said}
    </span>
  );
}
