import type { Priority } from "./backlog.js";

/** What a line of a checklist says beside its text. */
export interface Marks {
  /** Without what is only for machines. */
  readonly text: string;
  /** An id that the line gives itself. */
  readonly id: string | undefined;
  readonly dependsOn: readonly string[];
  readonly priority: Priority | undefined;
}

const ID = "[A-Za-z0-9._-]+";
// Obsidian's Tasks plugin, in both of its spellings: 🆔 abc or [id:: abc], ⛔ abc,def or [dependsOn:: abc,def].
const OWN_ID = new RegExp(`🆔\\uFE0F?\\s*(${ID})|[[(]id::\\s*(${ID})\\s*[\\])]`, "u");
const WAITS = new RegExp(`⛔\\uFE0F?\\s*(${ID}(?:\\s*,\\s*${ID})*)|[[(]dependsOn::\\s*([^\\])]*)[\\])]`, "gu");
const PRIORITY = /([🔺⏫🔼🔽⏬])\uFE0F?|[[(]priority::\s*(highest|high|medium|low|lowest)\s*[\])]/u;
const PRIORITIES: Readonly<Record<string, Priority>> = {
  "🔺": 4,
  "⏫": 3,
  "🔼": 2,
  "🔽": 1,
  "⏬": 1,
  highest: 4,
  high: 3,
  medium: 2,
  low: 1,
  lowest: 1,
};
// Obsidian's block id, at the end of the line.
const BLOCK_ID = /\s\^([A-Za-z0-9-]+)$/;
// Spec Kit's task number begins the line: T012 [P] [US1] …, and its "(depends on T004-T006, T009)" names others.
const TASK_NUMBER = /^\**(T\d{3,6}[a-z]?)\b/;
const DEPENDS = /\([^()]*?\b(?:depends\s+on|blocked\s+by)\s+([^()]*)\)/gi;
const NUMBERS = /\bT(\d{3,6})([a-z]?)(?:\s*[-–]\s*T?(\d{3,6})\b)?/g;
const RANGE_MAX = 1000;

/** Reads the marks that tools put into the lines of checklists. */
export function marksOf(line: string): Marks {
  const own = OWN_ID.exec(line);
  const priority = PRIORITY.exec(line);
  const waits = [...line.matchAll(WAITS)].flatMap((match) => (match[1] ?? match[2] ?? "").split(","));
  const rest = line.replace(OWN_ID, "").replaceAll(WAITS, "").replace(PRIORITY, "").trimEnd();
  const block = BLOCK_ID.exec(rest);
  const text = rest.replace(BLOCK_ID, "").replaceAll(/ {2,}/g, " ").trim();
  return {
    text,
    id: own?.[1] ?? own?.[2] ?? block?.[1] ?? TASK_NUMBER.exec(text)?.[1],
    dependsOn: waits.map((id) => id.trim()).filter((id) => id !== ""),
    priority: PRIORITIES[priority?.[1] ?? priority?.[2] ?? ""],
  };
}

/** The task numbers that a paragraph says it depends on, ranges written out. */
export function numbersNamed(text: string): string[] {
  return [...text.matchAll(DEPENDS)].flatMap(([, inner = ""]) =>
    [...inner.matchAll(NUMBERS)].flatMap(([, from = "", letter, to]) => {
      const length = to === undefined ? 1 : Number(to) - Number(from) + 1;
      if (length <= 1 || length > RANGE_MAX) return [`T${from}${letter}`, ...(to === undefined ? [] : [`T${to}`])];
      return Array.from({ length }, (_, step) => `T${String(Number(from) + step).padStart(from.length, "0")}`);
    }),
  );
}
