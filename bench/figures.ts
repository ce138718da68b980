/** Figures over several rounds: medians, because machines are noisy. */

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The value below which `percent` of the values lie (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))] ?? Number.NaN;
}

export const perSecond = (count: number, ms: number) => (count / ms) * 1000;
export const whole = (value: number) => Math.round(value).toLocaleString("en");
export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
export const ratio = (value: number) => `${value.toFixed(2)}×`;

/** Prints rows of text as aligned columns under a heading. */
export function table(heading: string, columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  ");
  console.log(`\n${heading}\n${line(columns)}\n${widths.map((width) => "─".repeat(width)).join("  ")}`);
  for (const row of rows) console.log(line(row));
}

export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
