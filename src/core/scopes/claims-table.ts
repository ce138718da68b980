import type { z } from "zod";
import type { ClaimRow } from "../../contract/claim-row.js";
import type { Operations } from "../../contract/operations.js";
import type { Scope } from "../../contract/scope.js";
import { RESERVED_KIND } from "../../contract/scope-kind.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { requireNamed } from "../named.js";
import type { Near, ScopeClaimRow, ScopeFilter } from "../port/scope-rows.js";
import type { Page } from "../port/verbs.js";
import { claimView } from "../tasks/task-view.js";
import { indexKey, isPattern, subtreeRange } from "./scope-keys.js";
import { namespaceOf, nearTo, scopeOf } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import { scopeClaimView } from "./scope-view.js";

type Input = z.output<Operations["list_claims"]["input"]>;

/** A row with its place: tasks first, then names, each in order of the grants. */
interface Placed {
  readonly at: readonly number[];
  readonly claim: ClaimRow;
}

export const list_claims: Handler<Input> = async (context, input) => {
  const page = pageOf("claims", input);
  const rows = await placed(context, input, page);
  return { body: rows.map(({ claim }) => claim), ...cursorAfter("claims", rows, page, ({ at }) => [...at]) };
};

export const count_claims: Handler<Input> = async (context, input) => {
  const { body, ...next } = await list_claims(context, input);
  const claims = body as ClaimRow[];
  return { body: { claims, count: claims.length }, ...next };
};

async function placed(context: Context, input: Input, page: Page): Promise<Placed[]> {
  await requireNamed(context, input);
  const narrowed = {
    ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
    ...(input.session_id === undefined ? {} : { sessionId: input.session_id }),
    ...(input.project_id === undefined ? {} : { projectId: (await projectOf(context, input.project_id)).id }),
  };
  const [part = 0, seq = 0] = page.after ?? [];
  const rows: Placed[] = [];
  const tasksToo = input.scope === undefined && (input.kind ?? RESERVED_KIND) === RESERVED_KIND;
  if (part === 0 && tasksToo) {
    const after = { limit: page.limit, after: [seq] };
    for (const row of await context.tx.claims.list(context.workspaceId, narrowed, context.nowMs, after))
      rows.push({ at: [0, row.seq], claim: claimView(row, context.nowMs) });
  }
  if (input.kind === RESERVED_KIND || rows.length >= page.limit) return rows;
  const left = { limit: page.limit - rows.length, after: [part === 1 ? seq : 0] };
  return [...rows, ...(await placedNames(context, input, narrowed, left))];
}

/**
 * What is held of names; with a scope what lies at or under it, which for a pattern is all that it may cover, or what
 * overlaps it. Where it is of a kind that projects share, the project says whose names are meant and narrows nothing: what is
 * held from another is in the way just so.
 */
async function placedNames(context: Context, input: Input, narrowed: ScopeFilter, page: Page): Promise<Placed[]> {
  const { projectId: _project, ...elsewhere } = narrowed;
  const project = await projectOf(context, input.project_id);
  const scope = input.scope === undefined ? undefined : scopeOf(context, input.scope, project);
  const filter: ScopeFilter = {
    ...(scope?.kind.reach === "workspace" ? elsewhere : narrowed),
    ...(input.kind === undefined ? {} : { kind: input.kind }),
    ...(scope && { near: { namespace: namespaceOf(context, scope, project), ...whereOf(scope, input.overlapping) } }),
  };
  const meant = ({ key }: ScopeClaimRow) => {
    if (!scope) return true;
    return input.overlapping || isPattern(scope.key) ? overlap(key, scope.key) : true;
  };
  const found: ScopeClaimRow[] = [];
  // Of what stands under a pattern's literal beginning not everything is meant: read on until the page is full.
  for (let next = page; found.length < page.limit; ) {
    const rows = await context.tx.scopes.list(context.workspaceId, filter, context.nowMs, next);
    found.push(...rows.filter(meant));
    if (rows.length < next.limit) break;
    next = { limit: page.limit, after: [rows.at(-1)?.seq ?? 0] };
  }
  return found.slice(0, page.limit).map((row) => ({ at: [1, row.seq], claim: scopeClaimView(row, context.nowMs) }));
}

function whereOf(scope: Scope, overlapping: boolean | undefined): Near {
  return overlapping ? nearTo(scope) : { at: [], ...subtreeRange(indexKey(scope.key)) };
}
