import { type ErrorCode, isDibsError } from "../../contract/errors.js";
import { causeOf } from "./outcome.js";
import { told } from "./retried.js";

/** Runs `look` from time to time, until what it returns is called. */
export type Beat = (look: () => Promise<void>) => () => void;

const everySecond: Beat = (look) => {
  const timer = setInterval(look, 1_000);
  timer.unref();
  return () => clearInterval(timer);
};

/** While the store is away whoever calls is told so, and it is no fault of ours. */
const AWAY: ReadonlySet<ErrorCode> = new Set(["store_unavailable", "storage_full"] as const);

/**
 * Looks again and again, one look at a time, until what it returns is called. Nobody waits for a look who could be told
 * what went wrong: `onFault` is, once for each kind of fault, as one that stays would fill the log by the second.
 */
export function tend(look: () => Promise<void>, onFault: (cause: string) => void, beat: Beat = everySecond) {
  const toldOf = new Set<string>();
  let busy = false;
  return beat(async () => {
    if (busy) return;
    busy = true;
    try {
      await look();
    } catch (thrown) {
      const fault = told(thrown);
      const kind = kindOf(fault);
      if (toldOf.has(kind) || (isDibsError(fault) && AWAY.has(fault.code))) return;
      toldOf.add(kind);
      onFault(causeOf(fault));
    } finally {
      busy = false;
    }
  });
}

/** What it is and where it was thrown. Its message may name another task each time. */
function kindOf(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const { code = "" } = fault as { code?: unknown };
  return `${fault.name} ${code} ${/\n\s+at [\s\S]*/.exec(fault.stack ?? "")?.[0]}`;
}
