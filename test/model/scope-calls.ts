import { compareSkipped, inLine } from "./line-shown.js";
import { NAMES, once, spaceOf, type Wanted } from "./names.js";
import { type ClaimSnapshot, claimSnapshot } from "./names-shown.js";
import type { Chosen, Claim, Item } from "./scopes.js";
import { same, snapshot } from "./shown.js";
import { type CallKind, given, one, type Subject } from "./subjects.js";

/** What a call means, as it was when the call was made. */
const meant = new WeakMap<Subject, Meant>();

interface Meant {
  readonly wanted: Wanted[];
  readonly project: string | undefined;
}

/** The names of a call, each once: some of all, or those that the session holds or waits for already. */
function meantBy(s: Subject): Meant {
  const before = meant.get(s) ?? ownNames(s) ?? someNames(s);
  meant.set(s, before);
  return before;
}

const wantedBy = (s: Subject) => meantBy(s).wanted;
const projectBy = (s: Subject) => meantBy(s).project;

function someNames({ args }: Subject): Meant {
  const wanted = (args.names ?? [{ at: 0, shared: false }]).map(({ at, shared }): Wanted => {
    const name = NAMES[at % NAMES.length] as (typeof NAMES)[number];
    return { name, mode: shared ? "shared" : "exclusive", space: spaceOf(name, args.project ?? "default") };
  });
  return { wanted: once(wanted), project: args.project };
}

function ownNames({ args, who, scene: { rules } }: Subject): Meant | undefined {
  if (args.own === undefined) return undefined;
  const session = who.session ?? who.agent.implicit;
  const claims = rules.claims.filter((claim) => claim.session === session && !claim.task && rules.lives(claim));
  const tickets = rules.inOrder().filter((ticket) => ticket.session === session && !ticket.task);
  const mine = [...claims, ...tickets];
  const one = mine[args.own % Math.max(1, mine.length)];
  if (!one) return undefined;
  const mode = args.names?.[0]?.shared ? "shared" : "exclusive";
  const { project } = one;
  if ("wanted" in one) return { wanted: [...one.wanted], project };
  return { wanted: [{ name: one.name, space: one.space, mode }], project };
}

const namesGiven = (wanted: readonly Wanted[]) => wanted.map(({ name, mode }) => ({ scope: name.text, mode }));

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
  const project = projectBy(s);
  if (s.args.all) return { all: true, project };
  if (!s.args.claims || known.length === 0) return { wanted: wantedBy(s) };
  return { claims: s.args.claims.map((nth) => known[nth % known.length] as Claim), project };
}

function chosenInput(s: Subject): Record<string, unknown> {
  const { all, wanted, claims } = chosenBy(s);
  return given({
    project_id: projectBy(s),
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
        // One that came and went within one instant was never shown.
        const claim = items[at]?.claim;
        const id = claim?.id === null ? null : item.claim_id;
        return [id, item.scope, item.outcome, item.expires_at, reason];
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
    project: projectBy(s) ?? "default",
    intent: s.title,
    seconds: s.args.seconds,
    task: s.args.forTask && s.task,
    priority: s.args.priority,
    wait: s.args.wait,
  }) as unknown as Parameters<Subject["scene"]["rules"]["claimOrWait"]>[1];

const claimInput = (s: Subject) =>
  given({
    project_id: projectBy(s),
    scopes: namesGiven(wantedBy(s)),
    intent: s.title,
    ttl_seconds: s.args.seconds,
    task_id: s.args.forTask && s.task?.id,
    priority: s.args.priority,
    wait: s.args.wait,
  });

export const SCOPE_CALLS = {
  names: {
    name: "claim_scopes",
    record: true,
    input: claimInput,
    predict: (s, refusedWith) => {
      const { rules } = s.scene;
      const got = rules.claimOrWait(s.who, askedBy(s), refusedWith);
      if ("ticket" in got) return { status: 202, also: inLine(s, got.ticket) };
      const { claims } = got;
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
  /** A task that says what it will touch. */
  touching: {
    name: "create_task",
    record: true,
    input: (s) =>
      given({
        content: s.title,
        priority: s.args.priority,
        project_id: projectBy(s),
        scopes: namesGiven(wantedBy(s)),
      }),
    predict: (s) => {
      const { rules } = s.scene;
      const { priority } = s.args;
      const project = projectBy(s) as "default" | undefined;
      const task = rules.create(s.who, given({ content: s.title, priority, project }));
      rules.declare(task, wantedBy(s));
      const scopes = namesGiven(wantedBy(s));
      return { status: 201, ...one(s, task), also: (body) => same(body.scopes, scopes) };
    },
  },
  /** As `next`, with what was passed over. */
  nextFree: {
    name: "claim_next_task",
    record: true,
    input: ({ args }) => given({ project_id: args.project, lease_seconds: args.seconds, count: args.count }),
    predict: ({ scene, who, args }) => {
      const { project, seconds, count } = args;
      const taken = scene.rules.claimNext(who, given({ project, seconds, count }));
      const { skipped } = scene.rules;
      const also = (body: Record<string, unknown>) => compareSkipped(skipped, taken, body);
      if (taken.length === 0 && count === undefined) return { none: true, also };
      return { tasks: taken.map((task) => snapshot(scene.rules, task)), many: count !== undefined, also };
    },
  },
  keep: {
    name: "heartbeat_scopes",
    record: true,
    input: (s) => given({ ...chosenInput(s), ttl_seconds: s.args.seconds, intent: s.args.text }),
    predict: (s) => {
      const said = given({ seconds: s.args.seconds, intent: s.args.text });
      return { also: itemsAre(s, s.scene.rules.heartbeatScopes(s.who, chosenBy(s), said)) };
    },
  },
  free: {
    name: "release_scopes",
    record: true,
    input: chosenInput,
    predict: (s) => ({ also: itemsAre(s, s.scene.rules.releaseScopes(s.who, chosenBy(s))) }),
  },
} satisfies Record<string, CallKind>;
