import { appendFileSync } from "node:fs";

/** `npm run campaign` runs these tests long; the suite runs the same ones short. */
const long = process.env.CAMPAIGN === "long";

/** How often something is repeated: in the suite, and in the campaign. */
export function rounds(inSuite: number, inCampaign: number): number {
  return long ? inCampaign : inSuite;
}

/** A test's time limit: `ms` in the suite, an hour in the campaign. */
export function limit(ms: number): number {
  return long ? 3_600_000 : ms;
}

/** For how long random plays go on: `ms` in the suite; in the campaign MODEL_MINUTES, else five. */
export function playing(ms: number): number {
  return long ? Number(process.env.MODEL_MINUTES ?? 5) * 60_000 : ms;
}

/** Keeps what a test measured for the campaign's report; nothing in the suite. */
export function measured(what: string, figures: Readonly<Record<string, number | string>>): void {
  const file = process.env.CAMPAIGN_REPORT;
  if (file !== undefined && file !== "") appendFileSync(file, `${JSON.stringify({ what, ...figures })}\n`);
}

/** Median and the largest of some figures, rounded to a tenth. */
export function spread(values: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const round = (value: number) => Math.round(value * 10) / 10;
  return { p50: round(at(0.5)), p99: round(at(0.99)), max: round(sorted.at(-1) ?? 0) };
}
