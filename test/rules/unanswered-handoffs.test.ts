import { expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

test("the giver of a handoff is told that nobody took it in time; not where what it offered is lost, too (R39, R54)", async () => {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const { id } = await fresh.task();
  const told = async () => (await fresh.ask("get_session", { session_id: ann.sessionId }, ann)).notices;
  const offer = (offer_seconds: number) =>
    fresh.ask("handoff_task", { task_id: id, to_agent_id: ben.id, offer_seconds }, ann);
  await fresh.claim(id, ann, { lease_seconds: 600 });
  await offer(60);
  fresh.time.pass(60_000);
  await fresh.task();
  const notices = await told();
  expect(notices).toMatchObject([{ type: "handoff.expired", task_id: id, data: { expired_at: fresh.time.iso() } }]);
  expect(notices[0]?.message).toContain("ben didn't take task");
  await fresh.ask("ack_notices", { ids: notices.map((each) => each.id) }, ann);
  await offer(540);
  fresh.time.pass(540_000);
  await fresh.task();
  expect((await told()).map(({ type }) => type)).toEqual(["lease.lost"]);
});
