import { z } from "zod";

/** 32 hexadecimal digits, as every id of Dibs. */
export const id = (what: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be an id: 32 hexadecimal digits")
    .describe(`Id of ${what}.`);

export const time = z.iso.datetime({ offset: true, message: "must be a time with a zone, as 2026-01-31T12:00:00Z" });

/** A whole number within bounds; one message, with both bounds, for every way to be wrong. */
export const whole = (min: number, max: number, unit?: "seconds") => {
  const message = `must be a whole number${unit === undefined ? "" : ` of ${unit}`}, ${min}..${max}`;
  return z.int(message).min(min, message).max(max, message);
};

/** Text of 1..max characters, kept as given. */
export const text = (max: number) =>
  z.string().min(1, "must not be empty").max(max, `must have at most ${max} characters`);

// What a person sees nothing of: controls, formats, separators, marks alone, and the letters Unicode calls
// letters though they are blank (Hangul fillers, Braille blank).
const VISIBLE = /[^\p{C}\p{Z}\p{M}\u115F\u1160\u2800\u3164\uFFA0]/u;

/** As `text`, and a person must be able to see something of it. */
export const visibleText = (max: number) =>
  text(max).refine((value) => VISIBLE.test(value), "must contain something visible");

export const reason = visibleText(1000).describe("Why, for the people and agents concerned.");
export const leaseSeconds = z
  .int("must be a whole number of seconds, 30..3600 unless the workspace has another range")
  .describe("Length of the lease in seconds; the workspace's default and range are 300 and 30..3600 unless changed.");
export const waitSeconds = whole(0, 60, "seconds").describe("How long to wait for something to claim, 0..60 seconds.");
export const labels = z
  .array(text(100))
  .max(1000, "must have at most 1,000 labels")
  .describe("Free text, each 1..100 characters.");
export const json = z.json();
export const limit = whole(1, 1000).default(100).describe("Rows a page, 1..1000.");
export const cursor = z.string().max(500).describe("Where the last page ended: from its `Link` header.");
export const projectId = z
  .string()
  .min(1)
  .max(100)
  .describe("Id or key of the project; `default` where none is named.");
/** Beside the id of a record. */
export const itsProject = {
  project_id: projectId
    .describe("Its project, by id or key, where that is to be checked: the id says which it is.")
    .optional(),
};

const AS_CLAIMED = "must be the whole number that the claim gave";

/** What a holder's write may carry to be checked against the grant. */
export const leaseProof = {
  lease_id: id("the lease, as the claim gave it").optional(),
  fence: z.int(AS_CLAIMED).min(1, AS_CLAIMED).optional().describe("The grant's fence, as the claim gave it."),
};
