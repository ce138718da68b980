import { allowed, type CallKind, given } from "./subjects.js";

/** Holds on projects; those on names stand beside the line's calls. */
export const HOLD_CALLS = {
  place: {
    name: "place_hold",
    role: "coordinator",
    record: true,
    input: (s) => {
      const { project: project_id, count: ttl_seconds } = s.args;
      return given({
        project: true,
        project_id,
        reason: "because",
        ttl_seconds,
        allow_agent_ids: allowed(s).map(({ id }) => id),
      });
    },
    predict: (s) => {
      const { project = "default", count = 0 } = s.args;
      return { status: 201, hold: s.scene.rules.place(project, count, null, allowed(s)) };
    },
  },
  lift: {
    name: "lift_hold",
    role: "coordinator",
    record: true,
    input: (s) => ({ hold_id: s.hold?.id ?? "f".repeat(32) }),
    predict: (s) => ({ hold: s.scene.rules.lift(s.hold) }),
  },
} satisfies Record<string, CallKind>;
