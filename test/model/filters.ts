import type { Shown } from "./shown.js";

const STATUS = ["open", "claimed", "delegated", "completed", "failed", "cancelled"] as const;
type Fits = (task: Shown) => boolean;
export const FILTERS: readonly (readonly [filter: object, fits: Fits])[] = [
  ...STATUS.map((status) => [{ status }, (task: Shown) => task.status === status] as const),
  [{ ready: false }, (task) => !task.ready],
  [{ blocked: true }, (task) => task.status === "open" && task.blocked_by.length > 0],
  [{ blocked: false }, (task) => task.status !== "open" || task.blocked_by.length === 0],
  [{ stalled: true }, (task) => task.stalled],
  [{ stalled: false }, (task) => !task.stalled],
  [{ lapsed: true }, (task) => task.lapsed],
  [{ lapsed: false }, (task) => !task.lapsed],
  [{ claimed: true }, (task) => task.status === "claimed"],
  [{ claimed: false }, (task) => task.status === "open"],
  [{ label: "a", ready: true }, (task) => task.ready && task.labels.includes("a")],
];
