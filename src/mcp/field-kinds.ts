import type { z } from "zod";

/** What a tool's parameter is, as far as reading and describing it goes. */
export type FieldKind =
  | { readonly kind: "text" | "flag" | "record" | "any" }
  | { readonly kind: "number"; readonly min: number; readonly max: number }
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "list"; readonly element: z.ZodType }
  | { readonly kind: "object"; readonly shape: Fields };

/** The parameters of a tool by name. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** Classifies a schema, looking through optional, nullable and default. */
export function fieldKind(schema: z.ZodType): FieldKind {
  const inner = (found: z.ZodType) => found as unknown as { unwrap(): z.ZodType };
  switch (schema.def.type) {
    case "optional":
    case "nullable":
    case "default":
      return fieldKind(inner(schema).unwrap());
    case "string":
      return { kind: "text" };
    case "boolean":
      return { kind: "flag" };
    case "record":
      return { kind: "record" };
    case "number": {
      const number = schema as z.ZodNumber;
      return { kind: "number", min: number.minValue ?? -Infinity, max: number.maxValue ?? Infinity };
    }
    case "enum":
      return { kind: "choice", options: (schema as z.ZodEnum).options.map(String) };
    case "array":
      return { kind: "list", element: (schema as z.ZodArray<z.ZodType>).element };
    case "object":
      return { kind: "object", shape: (schema as z.ZodObject<Record<string, z.ZodType>>).shape };
    default:
      return { kind: "any" };
  }
}

/** Whether a call may leave the field out. */
export function isOptional(schema: z.ZodType): boolean {
  return schema.def.type === "optional" || schema.def.type === "default";
}
