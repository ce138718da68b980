import { ageText, fullTimeText, timeText, useMoment } from "./clock.js";
import type { Snapshot } from "./snapshot.js";

/** A time of the server's in the viewer's zone, with everything else about it in the tooltip. */
export function Moment({ at, from }: { at: string; from: Snapshot }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={fullTimeText(atMs)} className="tabular-nums whitespace-nowrap">
      {timeText(atMs, from.serverNowMs)}
    </time>
  );
}

/** How long ago something was, counted on by the page's monotonic clock from the server's own. */
export function Age({ at, from }: { at: string; from: Snapshot }) {
  const atMs = Date.parse(at);
  const age = useMoment((nowMs) => ageText(from.serverNowMs - atMs + (nowMs - from.receivedAtMs)));
  return <span className="tabular-nums whitespace-nowrap">{age}</span>;
}
