/** What a row says beside its title, as one text that reads well: the source's own words first, then the rest. */
export interface Description {
  readonly text?: string | undefined;
  /** Long texts under a heading each, in this order. */
  readonly sections?: readonly (readonly [title: string, text: string | undefined])[];
  /** Short ones, a line each. */
  readonly facts?: readonly (readonly [name: string, value: string | number | undefined])[];
}

/** Nothing where there is nothing to say. */
export function describe({ text, sections = [], facts = [] }: Description): string | undefined {
  const lines = facts.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [`- ${name}: ${value}`]));
  const parts = [
    text?.trimEnd() ?? "",
    ...sections.flatMap(([title, body]) =>
      body === undefined || body.trim() === "" ? [] : [`## ${title}\n\n${body.trimEnd()}`],
    ),
    lines.join("\n"),
  ].filter((part) => part.trim() !== "");
  return parts.length === 0 ? undefined : parts.join("\n\n");
}
