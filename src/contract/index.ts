export { type Agent, agent } from "./agent.js";
export { type ClaimRow, claimRow } from "./claim.js";
export { DibsError, ERRORS, type ErrorCode, EXIT, invalidInput, isDibsError, type Problem } from "./errors.js";
export type { Answer, Call, Caller, Operation, Role, TextAnswer, TextCall } from "./operation.js";
export { COMMON_ERRORS, ROLES } from "./operation.js";
export { type OperationName, type Operations, operationList, operations } from "./operations.js";
export { type Session, session } from "./session.js";
export { type NewTask, type Task, task } from "./task.js";
export { SETTINGS_DEFAULT, type Settings, settings } from "./workspace.js";
