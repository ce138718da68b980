import { expect } from "vitest";
import type { Heard } from "./surface.js";
import type { World } from "./world.js";

/** Refused, for a reason that is the caller's, and the store as a whole is what it was. Undefined if there was no way to ask. */
export async function refusedWithoutTrace(
  world: World,
  send: () => Promise<Heard> | undefined,
): Promise<Heard | undefined> {
  const before = await world.contents();
  const heard = await send();
  if (heard === undefined) return undefined;
  expect(["ok", "internal"], JSON.stringify(heard.body)).not.toContain(heard.code);
  expect(await world.contents()).toEqual(before);
  return heard;
}

/** The same of many, looked at once: reading all that a store has for each of hundreds takes most of a minute. */
export async function withoutTrace(world: World, work: () => Promise<void>): Promise<void> {
  const before = await world.contents();
  await work();
  expect(await world.contents()).toEqual(before);
}

export function mistakes(heard: Heard | undefined): { field: string; message: string }[] {
  return (heard?.body as { fields?: { field: string; message: string }[] } | undefined)?.fields ?? [];
}
