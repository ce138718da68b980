import fc from "fast-check";

/** As `fc.assert`, but that a machine too slow for a single play in its time is no failure. */
export async function held<T>(property: fc.IAsyncProperty<T>, parameters: fc.Parameters<T>): Promise<void> {
  const details = await fc.check(property, parameters);
  const none = details.interrupted && details.numRuns === 0;
  if (!details.failed || none) return;
  throw new Error(await fc.asyncDefaultReportMessage(details), { cause: details.errorInstance });
}
