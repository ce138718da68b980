import { countdownText, spokenDuration, useMoment } from "./clock.js";
import type { HeldRow } from "./snapshot.js";

/**
 * A holder renews when a third of its lease is gone, so half of it gone means that a renewal was missed, and the
 * last fifth that it probably won't come.
 */
const LATE_BELOW = 0.5;
const HOT_BELOW = 0.2;

const TONES = {
  calm: { text: "text-ink", bar: "fill-calm" },
  late: { text: "text-late", bar: "fill-late" },
  hot: { text: "text-hot font-semibold", bar: "fill-hot" },
} as const;

/** The time left of a lease, as figures and as a bar, by the page's monotonic clock. */
export function Countdown({ row, stale }: { row: HeldRow; stale: boolean }) {
  const secondsLeft = useMoment((nowMs) => Math.max(0, Math.ceil((row.deadlineMs - nowMs) / 1000)));
  if (secondsLeft === 0) {
    // Only the server knows whether it was renewed; without it the page must not say that it wasn't.
    return <span className={stale ? "text-faint" : "text-late"}>{stale ? "not known" : "lapsed"}</span>;
  }
  const share = Math.min(1, (secondsLeft * 1000) / row.lengthMs);
  const tone = TONES[share < HOT_BELOW ? "hot" : share < LATE_BELOW ? "late" : "calm"];
  return (
    <span
      className="inline-flex w-full items-center gap-3"
      title={`Until ${new Date(row.expires_at).toLocaleString()} by the server's clock`}
    >
      <span
        role="timer"
        aria-label={spokenDuration(secondsLeft * 1000)}
        className={`min-w-12 text-right tabular-nums ${tone.text}`}
      >
        {countdownText(secondsLeft * 1000)}
      </span>
      <svg className="h-1.5 w-full min-w-10 flex-1 overflow-hidden rounded-full" aria-hidden="true">
        <rect className="fill-faint-line" width="100%" height="100%" />
        <rect className={tone.bar} width={`${(share * 100).toFixed(1)}%`} height="100%" rx="3" />
      </svg>
    </span>
  );
}
