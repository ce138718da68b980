import type { Body } from "../support/fresh-store.js";
import type { Claim, Scopes } from "./scopes.js";
import { same } from "./shown.js";

type Row = Body<"list_claims">[number];

/** What a claim must look like at an instant. */
export interface ClaimSnapshot {
  readonly claim: Claim;
  readonly fields: Partial<Row>;
}

const iso = (ms: number) => new Date(ms).toISOString();

export function claimSnapshot(rules: Scopes, claim: Claim): ClaimSnapshot {
  const endMs = rules.endOf(claim);
  const fields: Partial<Row> = {
    scope: claim.name.text,
    kind: claim.name.kind,
    mode: claim.mode,
    agent_id: claim.session.agent.id,
    task_id: claim.task?.id ?? null,
    intent: claim.intent,
    claimed_at: iso(claim.atMs),
    expires_at: iso(endMs),
    remaining_ms: endMs - rules.nowMs,
  };
  return { claim, fields };
}

/** Compares shown claims of names with what they must look like, and binds those that are shown for the first time. */
export class NamesShown {
  readonly #ids = new Set<string>();

  constructor(
    private readonly rules: Scopes,
    private readonly projects: Readonly<Record<string, string>>,
  ) {}

  claim({ claim, fields }: ClaimSnapshot, shown: Row): void {
    if (claim.id === null) {
      if (this.#ids.has(shown.id)) throw new Error(`Claim id ${shown.id} was given twice.`);
      this.#ids.add(shown.id);
      Object.assign(claim, { id: shown.id, fence: shown.fence });
    }
    if (claim.fence === null) {
      if (shown.fence <= claim.fenceBefore) throw new Error(`Fence ${shown.fence} isn't higher than before.`);
      claim.fence = shown.fence;
    }
    claim.session.id ??= shown.session_id;
    const { id, fence, session, project } = claim;
    const expected = { ...fields, id, lease_id: id, fence, session_id: session.id, project_id: this.projects[project] };
    const named = Object.keys(expected).map((field) => [field, shown[field as keyof Row]]);
    same(Object.fromEntries(named), expected);
  }

  /** All that is held, in order of the grants (R53), with ever higher fences (R4). */
  table(rows: readonly Row[]): void {
    const shown = rows.filter(({ kind }) => kind !== "task");
    const living = this.rules.claims.filter((claim) => this.rules.lives(claim));
    const scopes = (all: readonly { scope: string }[]) => all.map(({ scope }) => scope);
    same(scopes(shown), scopes(living.map(({ name }) => ({ scope: name.text }))), "what is held");
    for (const [at, claim] of living.entries()) this.claim(claimSnapshot(this.rules, claim), shown[at] as Row);
    const highest = new Map<string, number>();
    for (const { space, fence, fenceBefore } of this.rules.claims) {
      // One that became its session's alone has its fence from then.
      if (fence === null || fenceBefore > 0) continue;
      if (fence <= (highest.get(space) ?? 0))
        throw new Error(`Fence ${fence} of ${space} isn't higher than all before.`);
      highest.set(space, fence);
    }
  }
}
