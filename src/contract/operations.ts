import { agentOperations } from "./agent.js";
import { claimOperations } from "./claim.js";
import { delegationOperations } from "./delegation.js";
import { dependencyOperations } from "./dependency.js";
import { handoffOperations } from "./handoff.js";
import { holdOperations } from "./hold.js";
import { noticeOperations } from "./notice.js";
import type { Operation } from "./operation.js";
import { planOperations } from "./plan.js";
import { presenceOperations } from "./presence.js";
import { recurrenceOperations } from "./recurrence.js";
import { capacityOperations } from "./scope-capacity.js";
import { scopeOperations } from "./scope-claims.js";
import { sessionOperations } from "./session.js";
import { contextOperations } from "./task-context.js";
import { evidenceOperations } from "./task-evidence.js";
import { taskRecordOperations } from "./task-records.js";
import { taskWorkOperations } from "./task-work.js";
import { unlandedOperations } from "./unlanded.js";
import { waitOperations } from "./wait.js";
import { workspaceOperations } from "./workspace.js";
import { yieldOperations } from "./yield.js";

/** Everything that may be asked of Dibs, by name. */
export const operations = {
  ...taskWorkOperations,
  ...taskRecordOperations,
  ...contextOperations,
  ...evidenceOperations,
  ...dependencyOperations,
  ...delegationOperations,
  ...planOperations,
  ...recurrenceOperations,
  ...claimOperations,
  ...scopeOperations,
  ...capacityOperations,
  ...handoffOperations,
  ...holdOperations,
  ...unlandedOperations,
  ...waitOperations,
  ...yieldOperations,
  ...sessionOperations,
  ...presenceOperations,
  ...noticeOperations,
  ...agentOperations,
  ...workspaceOperations,
} as const;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
export const operationList: readonly Operation[] = Object.values(operations);
