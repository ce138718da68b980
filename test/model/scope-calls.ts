import { NAMES, once, spaceOf, type Wanted } from "./names.js";
import { type ClaimSnapshot, claimSnapshot } from "./names-shown.js";
import type { Claim, Item } from "./scopes.js";
import { same } from "./shown.js";
import { type CallKind, given, type Subject } from "./subjects.js";

/** The names of a call, each once. */
function wantedBy({ args }: Subject): Wanted[] {
  const project = args.project ?? "default";
  return once(
    (args.names ?? [{ at: 0, shared: false }]).map(({ at, shared }) => {
      const name = NAMES[at % NAMES.length] as (typeof NAMES)[number];
      return { name, mode: shared ? "shared" : "exclusive", space: spaceOf(name, project) };
    }),
  );
}

const namesGiven = (wanted: readonly Wanted[]) => wanted.map(({ name, mode }) => ({ scope: name.text, mode }));

interface Chosen {
  readonly all?: true;
  readonly wanted?: Wanted[];
  readonly claims?: Claim[];
}
const chosen = new WeakMap<Subject, Chosen>();

/** What a call means of the claims there are when it is made: by their ids, by names, or all. */
function chosenBy(s: Subject): Chosen {
  const before = chosen.get(s) ?? choose(s);
  chosen.set(s, before);
  return before;
}

function choose(s: Subject): Chosen {
  const { rules } = s.scene;
  const known = rules.claims.filter(({ id }) => id !== null);
  if (s.args.all) return { all: true };
  if (!s.args.claims || known.length === 0) return { wanted: wantedBy(s) };
  return { claims: s.args.claims.map((nth) => known[nth % known.length] as Claim) };
}

function chosenInput(s: Subject): Record<string, unknown> {
  const { all, wanted, claims } = chosenBy(s);
  return given({
    project_id: s.args.project,
    all,
    scopes: wanted?.map(({ name }) => name.text),
    claim_ids: claims?.map(({ id }) => id),
  });
}

/** Answers item by item; where the rules don't say why a task's name went, any reason does. */
function itemsAre(s: Subject, items: readonly Item[]): (body: Record<string, unknown>) => void {
  const { rules } = s.scene;
  const expected = items.map(({ claim, name, outcome, reason }) => {
    const lives = outcome === "renewed" || outcome === "kept";
    const ends = lives && claim ? new Date(rules.endOf(claim)).toISOString() : null;
    const open = outcome !== "lost" || claim?.task != null;
    return [claim?.id ?? null, name?.text ?? null, outcome, ends, open ? null : reason];
  });
  return (body) =>
    same(
      (body.items as Record<string, unknown>[]).map((item, at) => {
        const reason = expected[at]?.[4] == null ? null : item.reason;
        return [item.claim_id, item.scope, item.outcome, item.expires_at, reason];
      }),
      expected,
    );
}

function claimsAre({ scene }: Subject, snapshots: readonly ClaimSnapshot[], nested?: readonly number[]) {
  return (body: Record<string, unknown>) => {
    const shown = body.claims as (Parameters<typeof scene.names.claim>[1] & { nested: number })[];
    same(shown.length, snapshots.length, "claims granted");
    for (const [at, each] of snapshots.entries()) scene.names.claim(each, shown[at] as (typeof shown)[number]);
    if (nested)
      same(
        shown.map((each) => each.nested),
        nested,
      );
  };
}

const askedBy = (s: Subject) =>
  given({
    wanted: wantedBy(s),
    project: s.args.project ?? "default",
    intent: s.title,
    seconds: s.args.seconds,
    task: s.args.forTask && s.task,
  }) as unknown as Parameters<Subject["scene"]["rules"]["claimScopes"]>[1];

const claimInput = (s: Subject) =>
  given({
    project_id: s.args.project,
    scopes: namesGiven(wantedBy(s)),
    intent: s.title,
    ttl_seconds: s.args.seconds,
    task_id: s.args.forTask && s.task?.id,
  });

export const SCOPE_CALLS = {
  names: {
    name: "claim_scopes",
    record: true,
    input: claimInput,
    predict: (s) => {
      const { rules } = s.scene;
      const claims = rules.claimScopes(s.who, askedBy(s));
      const snapshots = claims.map((claim) => claimSnapshot(rules, claim));
      return {
        status: 201,
        also: claimsAre(
          s,
          snapshots,
          claims.map(({ nested }) => nested),
        ),
      };
    },
  },
  keep: {
    name: "heartbeat_scopes",
    record: true,
    input: (s) => given({ ...chosenInput(s), ttl_seconds: s.args.seconds }),
    predict: (s) => ({ also: itemsAre(s, s.scene.rules.heartbeatScopes(s.who, chosenBy(s), s.args.seconds)) }),
  },
  free: {
    name: "release_scopes",
    record: true,
    input: chosenInput,
    predict: (s) => ({ also: itemsAre(s, s.scene.rules.releaseScopes(s.who, chosenBy(s))) }),
  },
} satisfies Record<string, CallKind>;
