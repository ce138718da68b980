import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";

/** Who will hold it; not the caller where a person decides for somebody who waits. */
export type Holding = Pick<Context["agent"], "id" | "name">;

/** How many of what is wanted the agent may still hold, tasks and names alike; none left is a refusal that names the setting (R49). */
export async function roomFor(context: Context, wanted: number, agent: Holding = context.agent): Promise<number> {
  const room = await roomLeft(context, wanted, agent);
  const limit = context.settings.claims_per_agent_max;
  if (room === 0) throw limitReached(agent, limit, limit);
  return room;
}

/** The same, where none left is no refusal yet. */
export async function roomLeft(context: Context, wanted: number, agent: Holding = context.agent): Promise<number> {
  const limit = context.settings.claims_per_agent_max;
  const live = await context.claimsMade.plus(context, agent.id, wanted, limit);
  return Math.max(0, Math.min(wanted, limit - live));
}

/** The same for those that want all or none. */
export async function roomForAll(context: Context, wanted: number, agent: Holding = context.agent): Promise<void> {
  if (wanted === 0 || (await roomFor(context, wanted, agent)) === wanted) return;
  throw tooMany(context, wanted, agent);
}

/** Why so many can't be had together. */
export function tooMany(context: Context, wanted: number, agent: Holding = context.agent) {
  const { claims_per_agent_max: limit } = context.settings;
  return limitReached(agent, limit, limit, wanted);
}

function limitReached(agent: Holding, live: number, limit: number, more = 0): DibsError<"limit_exceeded"> {
  const wants = more > 0 ? `and these ${more} would be more than` : "the most that";
  return new DibsError(
    "limit_exceeded",
    `${agent.name} holds ${more > 0 ? "some" : live} claims, ${wants} claims_per_agent_max allows (${limit}); finish or release some.`,
    { setting: "claims_per_agent_max", limit },
  );
}
