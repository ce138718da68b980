import { type Actor, FreshStore, type Input } from "./fresh-store.js";

/** What recurs in a store whose clock stands at noon (UTC) of 2026-01-01, a Thursday, or where it is put. */
export async function recurring(input: Partial<Input<"create_recurrence">> = {}, startsAt = "2026-01-01T12:00:00Z") {
  const fresh = await FreshStore.open();
  fresh.time.pass(Date.parse(startsAt) - fresh.time.wallMs());
  // Without sessions of their own, which would fall silent in between.
  const [ann, lead] = [await fresh.agent("ann"), await fresh.agent("lead", "coordinator")];
  const add = (more: Partial<Input<"create_recurrence">> = {}) =>
    fresh.ask("create_recurrence", { name: "hourly", content: "look", cron: "0 * * * *", ...input, ...more }, lead);
  const made = await add();
  const tasks = () => fresh.ask("list_tasks", { sort: "created", limit: 1000 }, ann);
  const read = () => fresh.ask("get_recurrence", { recurrence_id: made.id }, ann);
  const change = (changes: object, as: Actor = lead) =>
    fresh.ask("update_recurrence", { recurrence_id: made.id, ...changes }, as);
  const events = async (type: string) => fresh.ask("list_events", { types: [type] }, ann);
  return { fresh, ann, lead, made, add, tasks, read, change, events };
}
