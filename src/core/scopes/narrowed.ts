import type { Context } from "../context.js";

/** So long it is told: as the longest lease may last, within which its holder's next heartbeat comes. */
const TOLD_MS = 24 * 3600 * 1000;

/** Says what a claim became whose holder kept a part of it, so that who keeps it alive goes on with that (R38). */
export async function keepNarrowed({ tx, nowMs }: Context, claimId: string, now: readonly string[]): Promise<void> {
  await tx.notes.remember(noteOf(claimId), "", JSON.stringify(now), nowMs);
}

/** The ids of what a claim that has ended was narrowed to; undefined where it wasn't. */
export async function narrowedTo({ tx, nowMs }: Context, claimId: string): Promise<string[] | undefined> {
  const note = await tx.notes.remembered(noteOf(claimId), nowMs - TOLD_MS);
  return note && (JSON.parse(note.answer) as string[]);
}

const noteOf = (claimId: string) => `narrowed|${claimId}`;
