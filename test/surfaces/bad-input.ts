import type { ErrorCode } from "dibs/client";
import type { OperationName } from "dibs/contract";
import type { Fields } from "./surface.js";

/** One mistake, as JSON text: some of them no program's own objects could hold. */
export interface Bad {
  readonly what: string;
  readonly operation: OperationName;
  readonly json: string;
  /** What stands in the path, or is named by position: ids of things that are there. */
  readonly path?: Fields;
  /** The field the refusal has to name, as REST calls it. */
  readonly field: string;
  /** The limit, and what would be right. */
  readonly says: RegExp;
  readonly code?: ErrorCode;
  /** Ways that understand it, or have no way to say it. */
  readonly not?: readonly ("REST" | "MCP" | "CLI")[];
}

/** JSON text of so many letters. */
export const text = (length: number) => JSON.stringify("x".repeat(length));

/** The same mistakes in one field, all refused with the same words. */
export function wrong(
  operation: OperationName,
  field: string,
  values: readonly string[],
  says: RegExp,
  more: Partial<Bad> & { readonly with?: string } = {},
): Bad[] {
  const { with: beside = "", ...rest } = more;
  return values.map((value) => {
    const shown = value.length > 60 ? `${value.slice(0, 40)}… (${value.length} characters)` : value;
    const json = `{${beside}${beside === "" ? "" : ","}${JSON.stringify(field)}:${value}}`;
    return { what: `${field} ${shown}`, operation, json, field, says, ...rest };
  });
}
