export { DibsError, ERRORS, type ErrorCode, isDibsError } from "../contract/errors.js";
export type { Answer, Call, Caller } from "../contract/operation.js";
export { type Clock, systemClock } from "./clock.js";
export { type CallOptions, Dibs, type DibsSession, type Input, type Output } from "./dibs.js";
export { type HttpCallOptions, httpCall } from "./http-call.js";
export { WorkStopped, type WorkStoppedReason } from "./lease-keeper.js";
export type { WorkOptions } from "./work.js";
export type { WorkItem } from "./work-item.js";
