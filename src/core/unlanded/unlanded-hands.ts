import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { roleAtLeast } from "../identity.js";
import { agentOf } from "../named.js";
import type { UnlandedRow } from "../port/unlanded-rows.js";
import { iso } from "../tasks/task-view.js";
import { changed, tell, unlandedOf } from "./unlanded.js";
import { dropOffer, tellAnswer, tellOffer } from "./unlanded-offers.js";
import { hasEnded, unlandedView } from "./unlanded-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** So often unlanded work goes from hand to hand: beyond that nobody lands it. */
const HOPS_MAX = 3;

/** The unlanded work of a call that changes whose it is. Throws `unlanded_ended`. */
async function liveOf(context: Context, id: string): Promise<UnlandedRow> {
  const row = await unlandedOf(context, id);
  if (!hasEnded(row, context.nowMs)) return row;
  const { ended_how, ended_at } = unlandedView(row, context.nowMs);
  throw new DibsError("unlanded_ended", `${row.branch} has ${ended_how} at ${ended_at}.`, {
    ended_how: ended_how ?? "expired",
    ended_at: ended_at ?? iso(context.nowMs),
    next: ["If there is more on the branch, declare it again: declare_unlanded."],
  });
}

/** Asks; it changes hands when the other accepts (R42). */
export const transfer_unlanded: Handler<Input<"transfer_unlanded">> = async (context, input) => {
  const row = await liveOf(context, input.unlanded_id);
  if (row.agent_id !== context.agent.id && !roleAtLeast(context.role, "coordinator"))
    throw notYours(row, "Handing it over is its steward's, or a coordinator's.");
  const to = await agentOf(context, input.to_agent_id);
  if (to.id === row.agent_id) throw invalidInput("to_agent_id", `is ${to.name}, who looks after it already`);
  const rest =
    row.agent_deleted === 1
      ? "whoever works on it declares it again: declare_unlanded"
      : `${row.agent_name} has to land it, or let it end`;
  if (row.hops >= HOPS_MAX)
    throw new DibsError("limit_exceeded", `${row.branch} was handed over ${row.hops} times already: ${rest}.`, {
      setting: "unlanded_hops",
      limit: HOPS_MAX,
    });
  if (row.offered_to !== to.id) {
    await tell(context, "unlanded.offered", row, { to_agent_id: to.id, to: to.name });
    await dropOffer(context, row);
    await tellOffer(context, row, to.id);
  }
  // The answer goes to who asked, where that is its steward, or whoever acts for one that is no more.
  const asks = row.agent_id === context.agent.id || row.agent_deleted === 1;
  const session = asks && context.session ? { session_id: context.session.id } : {};
  return changed(context, row, { offered_to: to.id, ...session });
};

export const accept_unlanded: Handler<Input<"accept_unlanded">> = async (context, input) => {
  const row = await liveOf(context, input.unlanded_id);
  const { agent } = context;
  // A repeat: it is theirs by an earlier call.
  if (row.agent_id === agent.id && row.offered_to === null) return { body: unlandedView(row, context.nowMs) };
  if (row.offered_to !== agent.id) throw notYours(row, `${agent.name} was not asked to take it over.`);
  const hops = row.hops + 1;
  await tell(context, "unlanded.transferred", row, { from_agent_id: row.agent_id, from: row.agent_name, hops });
  await dropOffer(context, row);
  await tellAnswer(context, row, {
    answer: "accepted",
    message: `${agent.name} looks after ${row.branch} from now on.`,
  });
  const session_id = context.session?.id ?? null;
  return changed(context, row, { agent_id: agent.id, session_id, hops, offered_to: null });
};

export const decline_unlanded: Handler<Input<"decline_unlanded">> = async (context, input) => {
  const row = await liveOf(context, input.unlanded_id);
  const { agent } = context;
  if (row.offered_to !== agent.id && row.agent_id !== agent.id)
    throw notYours(row, `${agent.name} was not asked to take it over.`);
  if (row.offered_to === null) return { body: unlandedView(row, context.nowMs) };
  const data = { to_agent_id: row.offered_to, ...(input.reason === undefined ? {} : { reason: input.reason }) };
  await tell(context, "unlanded.declined", row, data);
  await dropOffer(context, row);
  // Its steward who takes it back waits for nobody.
  if (row.offered_to === agent.id) {
    const why = input.reason === undefined ? "" : `: ${input.reason}`;
    const message = `${agent.name} declined to look after ${row.branch}${why}. It is yours still.`;
    await tellAnswer(context, row, { answer: "declined", message, reason: input.reason ?? null });
  }
  return changed(context, row, { offered_to: null });
};

function notYours({ branch, agent_name }: UnlandedRow, why: string): DibsError<"forbidden"> {
  return new DibsError("forbidden", `${agent_name} looks after ${branch}. ${why}`, {});
}
