import type { TaskRow } from "./port/rows.js";

/** A title, shortened, as texts for people name it. */
export function titled(content: string): string {
  return content.length > 80 ? `${content.slice(0, 79)}…` : content;
}

/** A task by its title. */
export function quoted(row: Pick<TaskRow, "content">): string {
  return `Task "${titled(row.content)}"`;
}
