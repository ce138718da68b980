/** What a line of Markdown is to a checklist. `indent` counts columns, a tab as up to four. */
export type ChecklistLine =
  | { readonly kind: "heading"; readonly level: number; readonly text: string; readonly row: number }
  | {
      readonly kind: "box";
      readonly indent: number;
      /** What stands in the box. */
      readonly mark: string;
      /** Kiro writes `- [ ]* text` for what may be left out. */
      readonly optional: boolean;
      readonly text: string;
      readonly row: number;
    }
  | {
      readonly kind: "bullet";
      readonly indent: number;
      readonly text: string;
      readonly line: string;
      readonly row: number;
    }
  | { readonly kind: "text"; readonly indent: number; readonly line: string; readonly row: number }
  | { readonly kind: "blank"; readonly row: number };

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([^[\]])\](\\?\*)?(?:\s+(.*))?$/u;
const BULLET = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(.*)$/;
const FENCE = /^\s*(`{3,}|~{3,})/;

/** The lines of a Markdown text. What stands in code is text, and comments don't stand anywhere. */
export function* checklistLines(text: string): Iterable<ChecklistLine> {
  let fence: string | undefined;
  let inComment = false;
  for (const [index, written] of text.split(/\r\n?|\n/).entries()) {
    const row = index + 1;
    if (fence !== undefined) {
      const mark = FENCE.exec(written)?.[1];
      if (mark?.startsWith(fence) === true) fence = undefined;
      yield { kind: "text", indent: indentOf(written), line: written, row };
      continue;
    }
    const spoken = withoutComment(written, inComment);
    inComment = spoken.opens;
    fence = FENCE.exec(spoken.line)?.[1];
    yield lineOf(spoken.line, row, fence !== undefined);
  }
}

function lineOf(line: string, row: number, code: boolean): ChecklistLine {
  if (line.trim() === "") return { kind: "blank", row };
  const indent = indentOf(line);
  if (code) return { kind: "text", indent, line, row };
  const heading = HEADING.exec(line);
  if (heading !== null) return { kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "", row };
  const box = BOX.exec(line);
  if (box !== null)
    return { kind: "box", indent, mark: box[1] ?? " ", optional: box[2] !== undefined, text: box[3] ?? "", row };
  const bullet = BULLET.exec(line);
  if (bullet !== null) return { kind: "bullet", indent, text: bullet[1] ?? "", line, row };
  return { kind: "text", indent, line, row };
}

function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === "\t") columns += 4 - (columns % 4);
    else if (character === " ") columns++;
    else break;
  }
  return columns;
}

/** The line without `<!-- … -->`, and whether one is still open at its end. */
function withoutComment(line: string, inComment: boolean): { line: string; opens: boolean } {
  let rest = line;
  let kept = "";
  let open = inComment;
  while (rest !== "") {
    const at = rest.indexOf(open ? "-->" : "<!--");
    if (!open) kept += at === -1 ? rest : rest.slice(0, at);
    if (at === -1) break;
    rest = rest.slice(at + (open ? 3 : 4));
    open = !open;
  }
  return { line: kept.trim() === "" ? "" : kept, opens: open };
}
