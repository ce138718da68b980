import { DibsError } from "../contract/errors.js";
import type { Context } from "./context.js";

/** How many of what is wanted the agent may still hold, tasks and names alike; none left is a refusal that names the setting (R49). */
export async function roomFor(context: Context, wanted: number): Promise<number> {
  const limit = context.settings.claims_per_agent_max;
  const live = await context.claimsMade.plus(context, wanted, limit);
  if (live < limit) return Math.min(wanted, limit - live);
  throw limitReached(context, live, limit);
}

/** The same for those that want all or none. */
export async function roomForAll(context: Context, wanted: number): Promise<void> {
  if (wanted === 0 || (await roomFor(context, wanted)) === wanted) return;
  const { claims_per_agent_max: limit } = context.settings;
  throw limitReached(context, limit, limit, wanted);
}

function limitReached(context: Context, live: number, limit: number, more = 0): DibsError<"limit_exceeded"> {
  const wants = more > 0 ? `and these ${more} would be more than` : "the most that";
  return new DibsError(
    "limit_exceeded",
    `${context.agent.name} holds ${more > 0 ? "some" : live} claims, ${wants} claims_per_agent_max allows (${limit}); finish or release some.`,
    { setting: "claims_per_agent_max", limit },
  );
}
