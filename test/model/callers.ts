import type { CallStep } from "./calls.js";
import type { Agent, Proof, Session, Task, Who } from "./records.js";
import type { Scene, Subject } from "./subjects.js";

/** Whose lease a holder's write speaks of. */
export function proofOf(task: Task, kind: CallStep["proof"]): Proof {
  const last = task.grants.at(-1);
  const older = task.grants.at(-2);
  if (kind === "lease" && last?.id) return { lease_id: last.id };
  if (kind === "fence" && last?.id) return { lease_id: last.id, fence: last.fence };
  if (kind === "older" && older?.id) return { lease_id: older.id };
  if (kind === "wrong fence") return { fence: (last?.fence ?? 0) + 1 };
  return kind === "foreign" ? { lease_id: "0".repeat(32) } : {};
}

export function whoOf(scene: Scene, step: { agent: number; seat: number }): Who {
  const agent = scene.agents[step.agent % scene.agents.length] as Agent;
  const own = scene.rules.sessions.filter((session) => session.agent === agent && session.ttlMs !== null && session.id);
  return { agent, session: step.seat === 0 || own.length === 0 ? null : (own[step.seat % own.length] as Session) };
}

/** Who speaks for a session: implicit ones aren't named. */
export const asSession = (session: Session): Who => ({
  agent: session.agent,
  session: session.ttlMs === null ? null : session,
});

/** One that somebody holds, with its holder; nothing where nobody holds any. */
export function heldOne({ scene, task }: Subject): Partial<Pick<Subject, "task" | "who" | "proof">> {
  const held = scene.rules.tasks.filter(({ id, live }) => id !== null && live?.session.id);
  const chosen = held[(task?.order ?? 0) % Math.max(1, held.length)];
  return chosen?.live ? { task: chosen, who: asSession(chosen.live.session), proof: {} } : {};
}
