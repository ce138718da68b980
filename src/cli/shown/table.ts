import type { Screen } from "./screen.js";
import { columnsOf, cutTo, shown } from "./shown-text.js";

type Row = Readonly<Record<string, unknown>>;

/** One column of a table. */
export interface Column {
  readonly title: string;
  /** Its text as it came; what acts on a terminal is made visible here. */
  readonly text: (row: Row, screen: Screen) => string;
  readonly paint?: (text: string, row: Row, screen: Screen) => string;
  /** Gives way when the terminal is too narrow for all. */
  readonly flexible?: true;
  /** Left out where no row says anything in it. */
  readonly ifSaid?: true;
}

const GAP = "  ";
const LEAST_COLUMNS = 12;

/** Lines of an aligned table, one per row, with its heading. */
export function tableLines(all: readonly Column[], rows: readonly Row[], screen: Screen): string[] {
  const columns = all.filter(({ ifSaid, text }) => !ifSaid || rows.some((row) => text(row, screen) !== ""));
  const cells = rows.map((row) => columns.map((column) => shown(column.text(row, screen))));
  const widths = columns.map((column, at) =>
    Math.max(columnsOf(column.title), ...cells.map((row) => columnsOf(row[at] ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0 && total > screen.columns) {
    widths[flexible] = Math.max(LEAST_COLUMNS, (widths[flexible] ?? 0) - (total - screen.columns));
  }
  const line = (texts: readonly string[], paint: (text: string, at: number) => string) =>
    texts
      .map((text, at) => {
        const cut = cutTo(text, widths[at] ?? 0);
        const padding = at === texts.length - 1 ? "" : " ".repeat(Math.max(0, (widths[at] ?? 0) - columnsOf(cut)));
        return paint(cut, at) + padding;
      })
      .join(GAP)
      .trimEnd();
  const heading = line(
    columns.map((column) => column.title),
    (text) => screen.paint.dim(text),
  );
  return [heading, ...rows.map((row, nth) => line(cells[nth] ?? [], (text, at) => painted(columns[at], text, row)))];

  function painted(column: Column | undefined, text: string, row: Row): string {
    return column?.paint ? column.paint(text, row, screen) : text;
  }
}
