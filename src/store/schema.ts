import { DibsError } from "../contract/errors.js";

/** The steps a schema went, and went from; equal where it was current already. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** The store's version beside the one this code was written for. */
export interface SchemaState {
  readonly version: number;
  readonly known: number;
}

/** The refusal of a schema that only a newer Dibs understands. */
export function schemaTooNew(version: number, known: number): DibsError<"store_unavailable"> {
  return new DibsError(
    "store_unavailable",
    `The store's schema is version ${version}, made by a newer Dibs; this one knows ${known} and can't work with it. Update Dibs.`,
    {},
  );
}

/** The refusal of a schema that is to be brought up to date by hand. */
export function schemaTooOld(version: number, known: number): DibsError<"store_unavailable"> {
  return new DibsError(
    "store_unavailable",
    `The store's schema is version ${version}, this Dibs needs ${known}: run dibs migrate, or start with DIBS_MIGRATE=auto.`,
    {},
  );
}
