type Viewer = { readonly nowMs: number; readonly timeZone?: string };

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A duration for people: its largest unit, and the next one where it tells something: `1 h 20 min`, `45 s`. */
export function lasting(ms: number): string {
  const at = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const unit = UNITS[at];
  if (!unit) return "0 s";
  const [name, unitMs] = unit;
  const count = Math.floor(ms / unitMs);
  const below = UNITS[at + 1];
  const rest = below && count < 10 ? Math.floor((ms % unitMs) / below[1]) : 0;
  return rest > 0 && below ? `${count} ${name} ${rest} ${below[0]}` : `${count} ${name}`;
}

/** How far a time is from now: `in 4 min`, `3 min ago`, `now`. */
export function relative(atMs: number, nowMs: number): string {
  const distance = atMs - nowMs;
  if (Math.abs(distance) < 1000) return "now";
  return distance > 0 ? `in ${lasting(distance)}` : `${lasting(-distance)} ago`;
}

/** A time on the viewer's own clock with its zone, with the day when it isn't today's. */
function clockTime(atMs: number, viewer: Viewer): string {
  const day = partsOf(atMs, viewer).day;
  const { time } = partsOf(atMs, viewer);
  return day === partsOf(viewer.nowMs, viewer).day ? time : `${day} ${time}`;
}

/** A time both ways: `14:05:03 CET (in 4 min)`. */
export function when(atMs: number, viewer: Viewer): string {
  return `${clockTime(atMs, viewer)} (${relative(atMs, viewer.nowMs)})`;
}

function partsOf(atMs: number, viewer: Viewer): { day: string; time: string } {
  const format = new Intl.DateTimeFormat("en-GB", {
    ...(viewer.timeZone ? { timeZone: viewer.timeZone } : {}),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const time = `${part.hour}:${part.minute}:${part.second} ${part.timeZoneName}`;
  return { day: `${part.year}-${part.month}-${part.day}`, time };
}
