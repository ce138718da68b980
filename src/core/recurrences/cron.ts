import { Cron } from "croner";
import { invalidInput } from "../../contract/errors.js";

const DAY_MS = 86_400_000;
/** Windows looked into for the last tick that was missed, each when the one before is empty: a tick a minute or one a leap year. */
const LOOK_BACK_MS = [3_600_000, DAY_MS, 32 * DAY_MS, 367 * DAY_MS] as const;
/** Parsed once: it takes 0.7 ms, most of it the zone's. */
const SCHEDULES_MAX = 1_000;
const schedules = new Map<string, Schedule>();

const FORM = `five fields, minute hour day month weekday, as "0 9 * * 1-5" (09:00 on weekdays), or one of @hourly, @daily, @weekly, @monthly, @yearly`;
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
};

/** Next ticks of a cron expression in a time zone. Given a time it gives a time: it has no clock and no timer. */
export interface Schedule {
  /** The first tick behind that time, ms; null when there never is one. */
  after(ms: number): number | null;
}

/**
 * The schedule, or `invalid_input` that names the field and says what would be right; also for one that never comes.
 * A local time that a zone has twice ticks the first time, and one that it leaves out ticks where the gap ends, so that
 * every local tick comes once. Where the hour is `*`, each hour that passes has its ticks.
 */
export function scheduleOf(cron: string, timeZone: string): Schedule {
  const name = `${timeZone} ${cron}`;
  const known = schedules.get(name);
  if (known) return known;
  const schedule = made(cron, timeZone);
  if (schedules.size >= SCHEDULES_MAX) schedules.clear();
  schedules.set(name, schedule);
  return schedule;
}

/** The last tick that has come by `nowMs`, of those from `firstMs` on, which is one. */
export function lastTick(schedule: Schedule, firstMs: number, nowMs: number): number {
  for (const window of LOOK_BACK_MS) {
    const fromMs = nowMs - window;
    if (fromMs <= firstMs) break;
    const found = schedule.after(fromMs);
    if (found !== null && found <= nowMs) return walk(schedule, found, nowMs);
  }
  return walk(schedule, firstMs, nowMs);
}

function walk(schedule: Schedule, fromMs: number, nowMs: number): number {
  for (let last = fromMs; ; ) {
    const next = schedule.after(last);
    if (next === null || next > nowMs) return last;
    last = next;
  }
}

function made(cron: string, timeZone: string): Schedule {
  const offsetMs = offsetsOf(timeZone);
  const pattern = NICKNAMES[cron.trim().toLowerCase()] ?? cron.trim();
  const everyHour = pattern.split(/\s+/)[1] === "*";
  // Wall time is a calendar without jumps, as UTC is; which instant it stands for is said here and not by the library,
  // which leaves out 02:30 in the spring when 03:30 is named beside it, and in autumn has `0,30 2` four times.
  const ticks = parsed(pattern, everyHour ? timeZone : "UTC");
  const next = (ms: number) => ticks.nextRun(new Date(ms))?.getTime() ?? null;
  const schedule: Schedule = {
    after(ms) {
      if (everyHour) return next(ms);
      for (let wall = next(ms + offsetMs(ms)); wall !== null; wall = next(wall)) {
        const at = instantOf(wall, offsetMs);
        if (at > ms) return at;
      }
      return null;
    },
  };
  if (schedule.after(Date.UTC(2025, 0)) !== null) return schedule;
  throw invalidInput("cron", `never comes: no date has the day and month of "${cron}"; it must be ${FORM}`);
}

function parsed(pattern: string, timezone: string): Cron {
  if (/[^0-9a-z*,/#\- ]/i.test(pattern)) throw invalidInput("cron", `must be ${FORM}`);
  try {
    return new Cron(pattern, { timezone, paused: true, mode: "5-part" });
  } catch (fault) {
    const detail = /Invalid value.*|From value.*|Syntax error.*/.exec((fault as Error).message)?.[0];
    throw invalidInput("cron", `must be ${FORM}${detail === undefined ? "" : `. ${detail}`}`);
  }
}

/** The instant at which clocks of the zone first show that wall time, or pass it. */
function instantOf(wall: number, offsetMs: (ms: number) => number): number {
  const [before, after] = [offsetMs(wall - DAY_MS), offsetMs(wall + DAY_MS)];
  const [early, late] = [wall - before, wall - after];
  if (offsetMs(early) === before) return early;
  if (offsetMs(late) === after) return late;
  // The clocks jump over it, somewhere behind `late` and not behind `early`.
  let [from, to] = [late, early];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (offsetMs(middle) === after) to = middle;
    else from = middle;
  }
  return to;
}

/** How far the zone's clocks are ahead of UTC at a time. */
function offsetsOf(timeZone: string): (ms: number) => number {
  const format = formatOf(timeZone);
  return (ms) => {
    const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours = "0", minutes = "0", seconds = "0"] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
    return (sign === "-" ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    // Later versions of Node take offsets as zones, which know no summer; earlier ones don't.
    if (/^[A-Z]/i.test(timeZone)) return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    // Refused below.
  }
  throw invalidInput("time_zone", "must be a zone of the IANA database, as Europe/Berlin or UTC");
}
