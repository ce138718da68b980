import { Option } from "commander";
import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operation } from "../../contract/operation.js";

/** How a field of an operation's input is said on the command line. */
interface Flag {
  readonly field: string;
  /** The first is what help shows; the others say the same or its opposite. */
  readonly options: readonly Option[];
  /** The field's value from what the options were given; undefined when none was. */
  readonly read: (values: Readonly<Record<string, unknown>>) => unknown;
}

type Kind = "text" | "number" | "switch" | "list" | "json";

/** One flag per field of the input, made from its schema; `taken` fields stand elsewhere on the command line. */
export function flagsOf(operation: Operation, taken: readonly string[]): Flag[] {
  return Object.entries(operation.input.shape as Record<string, z.ZodType>)
    .filter(([field]) => !taken.includes(field))
    .map(([field, schema]) => flagOf(field, schema));
}

/** The option that names fields to clear, where an operation can clear any. */
export function clearOption(operation: Operation): Option | undefined {
  const clearable = Object.entries(operation.input.shape as Record<string, z.ZodType>)
    .filter(([, schema]) => operation.nulls === "clear" && schema.safeParse(null).success)
    .map(([field]) => field);
  if (clearable.length === 0) return undefined;
  return repeatable(new Option("--clear <field>", `Empty a field (repeatable): ${clearable.join(", ")}.`));
}

function flagOf(field: string, schema: z.ZodType): Flag {
  const kind = kindOf(schema);
  const name = `--${dashed(kind === "list" ? field.replace(/s$/, "") : field)}`;
  const description = describe(schema, kind);
  if (kind === "switch") {
    const on = new Option(name, description);
    return flag(field, [on, new Option(`--no-${dashed(field)}`).hideHelp()], (value) => value);
  }
  const option = new Option(`${name} <${placeholder(schema, kind)}>`, description);
  if (kind !== "list") return flag(field, [option], kind === "text" ? String : kind === "number" ? number : jsonOrText);
  const plural = `--${dashed(field)}`;
  const also = plural === name ? [] : [repeatable(new Option(`${plural} <text>`).hideHelp())];
  return flag(field, [repeatable(option), ...also], (value) => value);
}

function flag(field: string, options: readonly Option[], convert: (given: string) => unknown): Flag {
  const read = (values: Readonly<Record<string, unknown>>) => {
    const names = new Set(options.map((option) => option.attributeName()));
    const given = [...names].map((name) => values[name]).filter((value) => value !== undefined);
    if (given.length === 0) return undefined;
    return Array.isArray(given[0]) ? given.flat() : convert(given[0] as string);
  };
  return { field, options, read };
}

function repeatable(option: Option): Option {
  return option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
}

function dashed(field: string): string {
  return field.replaceAll("_", "-");
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const wraps = ["optional", "nullable", "default"].includes(schema.def.type);
  return wraps ? unwrapped((schema as unknown as { unwrap(): z.ZodType }).unwrap()) : schema;
}

function kindOf(schema: z.ZodType): Kind {
  const inner = unwrapped(schema);
  switch (inner.def.type) {
    case "string":
    case "enum":
      return "text";
    case "number":
      return "number";
    case "boolean":
      return "switch";
    case "union":
      // What has a short form is given by it.
      return (inner as z.ZodUnion<z.ZodType[]>).options.some((option) => kindOf(option) === "text") ? "text" : "json";
    case "array":
      return kindOf((inner as z.ZodArray<z.ZodType>).element) === "text" ? "list" : "json";
    default:
      return "json";
  }
}

function placeholder(schema: z.ZodType, kind: Kind): string {
  const inner = unwrapped(schema);
  if (inner.def.type === "enum") return (inner as z.ZodEnum).options.join("|");
  return kind === "number" ? "n" : kind === "json" ? "json" : "text";
}

function describe(schema: z.ZodType, kind: Kind): string {
  let description: string | undefined;
  let preset: unknown;
  for (let at = schema; ; at = (at as unknown as { unwrap(): z.ZodType }).unwrap()) {
    description ??= at.description;
    if (at.def.type === "default") preset = (at.def as unknown as { defaultValue: unknown }).defaultValue;
    if (unwrapped(at) === at) break;
  }
  const notes = [
    ...(kind === "list" ? ["repeatable"] : []),
    ...(preset === undefined ? [] : [`default: ${String(preset)}`]),
    ...(schema.safeParse(undefined).success ? [] : ["required"]),
  ];
  return [description, notes.length > 0 ? `(${notes.join(", ")})` : undefined].filter(Boolean).join(" ");
}

/** What isn't a number stays text: the operation itself says what it wants instead. */
function number(given: string): unknown {
  return /^-?\d+(\.\d+)?(e\d+)?$/i.test(given) ? Number(given) : given;
}

/** JSON, or plain text where it is none, so that `--result done` needs no inner quotes. */
function jsonOrText(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** The object of `--json-input`. Throws `invalid_input` when it is none. */
export function jsonObject(text: string): Record<string, unknown> {
  const value = jsonOrText(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalidInput("json-input", "must be one JSON object with the operation's fields");
}
