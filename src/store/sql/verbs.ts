import type { Tx } from "../../core/port/store.js";
import { agentVerbs } from "./agents.js";
import { claimVerbs } from "./claims.js";
import { contextVerbs } from "./contexts.js";
import type { Db } from "./db.js";
import { dependencyVerbs } from "./dependencies.js";
import { dumpVerbs } from "./dump.js";
import { eventVerbs } from "./events.js";
import { familyVerbs } from "./families.js";
import { handoffVerbs } from "./handoffs.js";
import { headVerbs } from "./heads.js";
import { holdVerbs } from "./holds.js";
import { leaseVerbs } from "./leases.js";
import { noteVerbs } from "./notes.js";
import { planVerbs } from "./plans.js";
import { recurrenceVerbs } from "./recurrences.js";
import { repositoryVerbs } from "./repositories.js";
import { scopeVerbs } from "./scopes.js";
import { sessionVerbs } from "./sessions.js";
import { taskVerbs } from "./tasks.js";
import { unlandedVerbs } from "./unlanded.js";
import { waitVerbs } from "./waits.js";
import { workspaceVerbs } from "./workspaces.js";

/** A transaction's verbs, all but what is said of the transaction itself. */
export type Verbs = Pick<
  Tx,
  | "workspaces"
  | "agents"
  | "sessions"
  | "tasks"
  | "dependencies"
  | "families"
  | "scopes"
  | "holds"
  | "unlanded"
  | "plans"
  | "contexts"
  | "heads"
  | "dump"
  | "leases"
  | "claims"
  | "notes"
  | "events"
  | "recurrences"
  | "handoffs"
  | "repositories"
  | "waits"
>;

/** `noticeWrites` is where their count goes on from. */
export function verbsOf(db: Db, noticeWrites = 0): Verbs {
  return {
    workspaces: workspaceVerbs(db),
    agents: agentVerbs(db),
    sessions: sessionVerbs(db),
    tasks: taskVerbs(db),
    dependencies: dependencyVerbs(db),
    families: familyVerbs(db),
    scopes: scopeVerbs(db),
    holds: holdVerbs(db),
    unlanded: unlandedVerbs(db),
    plans: planVerbs(db),
    contexts: contextVerbs(db),
    heads: headVerbs(db),
    dump: dumpVerbs(db),
    leases: leaseVerbs(db),
    claims: claimVerbs(db),
    notes: noteVerbs(db, noticeWrites),
    events: eventVerbs(db),
    recurrences: recurrenceVerbs(db),
    handoffs: handoffVerbs(db),
    repositories: repositoryVerbs(db),
    waits: waitVerbs(db),
  };
}
