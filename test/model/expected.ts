import type { Offer } from "./handoffs.js";
import type { Hold, Session, Task } from "./records.js";
import type { Snapshot } from "./shown.js";

/** What an answer must be. */
export interface Expected {
  readonly status?: number;
  readonly tasks?: Snapshot[];
  readonly many?: boolean;
  readonly none?: true;
  readonly offer?: Offer;
  readonly opened?: { readonly session: Session; readonly resumed: boolean };
  readonly deleted?: Task;
  /** What else must be true of it. */
  readonly also?: (body: Record<string, unknown>) => void;
  readonly hold?: Hold;
}
