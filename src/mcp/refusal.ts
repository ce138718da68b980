import type { CallToolResult } from "@modelcontextprotocol/server";
import { DibsError } from "../contract/errors.js";
import { agentTextFields, type Row, VIEWS, type View, view } from "./views.js";
import { plain } from "./wording.js";

const TEXT_LIMIT = 100;
/** Of more `conflicts_count` says how many there are. */
const CONFLICTS_SHOWN = 5;
const CLAIMS_MAX = 3;
const MISTAKES_MAX = 10;

/**
 * A refusal as a tool's result: `isError`, the code and fields that REST answers with, the holder in the compact form.
 * `names` are the tool's names for fields that the operation calls otherwise, `toolOf` the tools that stand for the
 * operations a refusal may advise. What is no DibsError becomes `internal` and tells nothing of itself.
 */
export function refusal(
  thrown: unknown,
  names: Readonly<Record<string, string>> = {},
  toolOf: ReadonlyMap<string, string> = new Map(),
): CallToolResult {
  const error =
    thrown instanceof DibsError
      ? thrown
      : new DibsError("internal", "Something broke inside Dibs. The call may be repeated later.", {});
  const details = advisedInTools(compactDetails(error.details as Row, names), toolOf);
  const message = wordsOf(error, details.fields);
  const data: View = { code: error.code, message, retryable: error.retryable, ...details };
  const next = Array.isArray(details.next) ? ` Next: ${details.next.join(" ")}` : "";
  return answer(data, plain(`Refused, ${error.code}: ${message}${next}`), true);
}

/** The same record with the operations in its advice (`next`) called by the tools that stand for them. */
export function advisedInTools<R extends Row>(record: R, toolOf: ReadonlyMap<string, string>): R {
  if (!Array.isArray(record.next)) return record;
  return { ...record, next: record.next.map((text) => calledTools(text, toolOf)) };
}

/** A text with the operations in it called by the tools that stand for them. */
export function calledTools(text: string, toolOf: ReadonlyMap<string, string>): string {
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => toolOf.get(word) ?? word);
}

/** A result with both faces; names the fields that hold what agents wrote. */
export function answer(data: View, says: string, isError = false): CallToolResult {
  const agentText = agentTextFields(data);
  const structuredContent = agentText.length > 0 ? { ...data, written_by_agents: agentText } : data;
  return { content: [{ type: "text", text: says }], structuredContent, ...(isError ? { isError } : {}) };
}

function compactDetails(details: Row, names: Readonly<Record<string, string>>): View {
  const compact: View = { ...details };
  if (compact.holder) compact.holder = view(compact.holder as Row, VIEWS.claim, TEXT_LIMIT);
  if (Array.isArray(compact.conflicts)) {
    compact.conflicts = (compact.conflicts as Row[])
      .slice(0, CONFLICTS_SHOWN)
      .map(({ also_requested: also, ...row }) => {
        const more = Array.isArray(also) && also.length > 0 ? { also_requested: also.slice(0, CONFLICTS_SHOWN) } : {};
        return { ...row, ...more, holder: view(row.holder as Row, VIEWS.claim, TEXT_LIMIT) };
      });
  }
  if (Array.isArray(compact.holds)) {
    compact.holds = compact.holds
      .slice(0, CONFLICTS_SHOWN)
      .map((row) => ({ scope: row.scope, ...view(row, VIEWS.hold, TEXT_LIMIT) }));
  }
  if (Array.isArray(compact.unlanded)) {
    compact.unlanded = compact.unlanded.slice(0, CONFLICTS_SHOWN).map((row) => view(row, VIEWS.unlanded, TEXT_LIMIT));
  }
  if (Array.isArray(compact.claims)) {
    compact.claims = compact.claims.slice(0, CLAIMS_MAX).map((row) => view(row, VIEWS.claim, TEXT_LIMIT));
  }
  if (Array.isArray(compact.fields)) {
    const ours = new Map(Object.entries(names).map(([tool, operation]) => [operation, tool]));
    compact.fields = compact.fields
      .slice(0, MISTAKES_MAX)
      .map((mistake) => ({ ...mistake, field: ours.get(mistake.field) ?? mistake.field }));
  }
  return compact;
}

/** The text of a mistake names fields as the caller did. */
function wordsOf(error: DibsError, fields: unknown): string {
  if (error.code !== "invalid_input" || !Array.isArray(fields) || fields.length === 0) return error.message;
  return fields.map((mistake) => `${mistake.field}: ${mistake.message}`).join("; ");
}
