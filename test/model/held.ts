import fc from "fast-check";

/** As `fc.assert`, but on a machine too slow for a single play in its time one is played to its end. */
export async function held<T>(property: fc.IAsyncProperty<T>, parameters: fc.Parameters<T>): Promise<void> {
  let details = await fc.check(property, parameters);
  if (details.interrupted && details.numRuns === 0) {
    const { interruptAfterTimeLimit: _limit, ...unlimited } = parameters;
    details = await fc.check(property, { ...unlimited, numRuns: 1 });
  }
  if (!details.failed) return;
  throw new Error(await fc.asyncDefaultReportMessage(details), { cause: details.errorInstance });
}
