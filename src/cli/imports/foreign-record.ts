/** One record of another tool: its fields by name, each of the type it must have, or absent. */
export class ForeignRecord {
  private constructor(
    private readonly record: Readonly<Record<string, unknown>>,
    private readonly path: string,
    /** Of a record and all within it. */
    private readonly faults: { first?: string },
  ) {}

  /** Nothing if it is no JSON object. */
  static of(value: unknown): ForeignRecord | undefined {
    return isRecord(value) ? new ForeignRecord(value, "", {}) : undefined;
  }

  /** The first field here or deeper that isn't what it must be, of those that were asked for. */
  get fault(): string | undefined {
    return this.faults.first;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** As it is; absent and null are the same to all of these tools. */
  raw(name: string): unknown {
    return Object.hasOwn(this.record, name) ? (this.record[name] ?? undefined) : undefined;
  }

  names(): string[] {
    return Object.keys(this.record);
  }

  text(name: string): string | undefined {
    const value = this.raw(name);
    return typeof value === "string" || value === undefined ? value : this.wrong(name, "text");
  }

  /** An id: text, or a whole number that is not negative, as tools that count write it. */
  id(name: string): string | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : (idText(value) ?? this.wrong(name, "text or a whole number"));
  }

  ids(name: string): string[] {
    const ids = this.list(name).map(idText);
    if (ids.every((id) => id !== undefined)) return ids as string[];
    return this.wrong(name, "a list of ids") ?? [];
  }

  whole(name: string): number | undefined {
    const value = this.raw(name);
    return value === undefined || Number.isSafeInteger(value) ? (value as number) : this.wrong(name, "a whole number");
  }

  flag(name: string): boolean {
    return this.raw(name) === true;
  }

  list(name: string): readonly unknown[] {
    const value = this.raw(name) ?? [];
    return Array.isArray(value) ? value : (this.wrong(name, "a list") ?? []);
  }

  texts(name: string): string[] {
    const list = this.list(name);
    if (list.every((item) => typeof item === "string")) return [...list] as string[];
    return this.wrong(name, "a list of texts") ?? [];
  }

  records(name: string): ForeignRecord[] {
    const list = this.list(name);
    if (!list.every(isRecord)) return this.wrong(name, "a list of objects") ?? [];
    return list.map((item, index) => this.within(item, `${name}.${index}`));
  }

  child(name: string): ForeignRecord | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    return isRecord(value) ? this.within(value, name) : this.wrong(name, "an object");
  }

  /** Text as it is, a list of texts as one, anything else as JSON: for the description. */
  prose(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === "string") return value;
    if (Array.isArray(value) && value.every((item) => typeof item === "string"))
      return value.map((item) => `- ${item}`).join("\n");
    return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
  }

  /** Puts a fault on record that only the format's own rules know. */
  wrong(name: string, right: string): undefined {
    this.faults.first ??= `${this.path}${name} must be ${right}; change it in the source`;
    return undefined;
  }

  private within(value: Record<string, unknown>, path: string): ForeignRecord {
    return new ForeignRecord(value, `${this.path}${path}.`, this.faults);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function idText(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim();
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
}
