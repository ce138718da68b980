import type { Agent, Grant, Proof, Reason, Session, Task } from "./records.js";

/**
 * Why a caller doesn't hold the task under the proof it gave (R3): about the lease it names, if that is one of its agent's,
 * else about its session's last one. `grant` is the lease that was lost.
 */
export function reasonLost(
  task: Task,
  agent: Agent,
  session: Session | null,
  proof: Proof,
): { reason: Reason; grant: Grant | null } {
  const { live } = task;
  const holdsIt = live !== null && live.session === session;
  // The lease is right, the fence isn't.
  if (holdsIt && (proof.lease_id ?? live.id) === live.id) return { reason: "superseded", grant: null };
  const mine = task.grants.filter((grant) =>
    proof.lease_id === undefined
      ? grant.session === session
      : grant.id === proof.lease_id && grant.session.agent === agent,
  );
  const ended = mine.filter((grant) => grant.ended !== null).at(-1);
  if (!ended?.ended) return { reason: "never_held", grant: null };
  return { reason: holdsIt ? "superseded" : ended.ended, grant: ended };
}
