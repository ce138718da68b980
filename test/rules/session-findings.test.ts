import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

describe("what a session leaves for those who come after", () => {
  test("during its work and at its end, the newest in place of what stood before; read by everybody", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { sessionId: session_id } = ann;
    expect(await fresh.ask("get_session", { session_id }, ben)).toMatchObject({ findings: null });
    const beaten = await fresh.ask("heartbeat_session", { session_id, findings: "the cache lies" }, ann);
    expect(beaten).toMatchObject({ findings: "the cache lies" });
    // A heartbeat that says nothing leaves it.
    expect(await fresh.ask("heartbeat_session", { session_id }, ann)).toMatchObject({ findings: "the cache lies" });
    await fresh.ask("end_session", { session_id, findings: "TZ must be UTC\nsee conf/" }, ann);
    const shown = await fresh.ask("get_session", { session_id }, ben);
    expect(shown).toMatchObject({ state: "ended", findings: "TZ must be UTC\nsee conf/" });
    const events = await fresh.ask("list_events", { types: ["session.updated"] }, ben);
    expect(events.map((event) => event.data)).toEqual([{ fields: ["findings"] }, { fields: ["findings"] }]);
    await fresh.restart();
    expect(await fresh.ask("list_sessions", { state: "any", has_findings: true }, ben)).toMatchObject([
      { id: session_id, findings: "TZ must be UTC\nsee conf/" },
    ]);
  });

  test("also when it fell silent before, as nothing that was found shall be lost; again says it once", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 30 });
    fresh.time.pass(30_000);
    const end = { session_id: ann.sessionId, findings: "late but true" };
    for (const _time of [1, 2]) expect(await fresh.ask("end_session", end, ann)).toMatchObject({ tasks_released: 0 });
    const [session] = await fresh.ask("list_sessions", { state: "expired" }, ann);
    expect(session).toMatchObject({ findings: "late but true", state: "expired" });
    expect(await fresh.ask("list_events", { types: ["session.updated"] }, ann)).toHaveLength(1);
  });

  test("has at most 4,000 characters, something visible, and is the session's own to write", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { sessionId: session_id } = ann;
    await fresh.ask("heartbeat_session", { session_id, findings: "x".repeat(4000) }, ann);
    for (const findings of ["x".repeat(4001), "", " \n"]) {
      for (const name of ["heartbeat_session", "end_session"] as const) {
        const refused = await fresh.refusal(name, { session_id, findings }, ann);
        expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "findings" }] });
      }
    }
    for (const name of ["heartbeat_session", "end_session"] as const) {
      expect(await fresh.refusal(name, { session_id, findings: "mine" }, ben)).toMatchObject({ code: "not_found" });
    }
  });

  test("is found by project, whether its session lives or not, page after page", async () => {
    const fresh = await FreshStore.open();
    const agent = await fresh.agent("ann");
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    const left: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const who = await fresh.session(agent, { project_id: n === 2 ? "default" : "web" });
      const findings = `found ${n}`;
      const call = n % 2 === 0 ? "heartbeat_session" : "end_session";
      if (n !== 3) await fresh.ask(call, { session_id: who.sessionId, findings }, who);
      if (n !== 3 && n !== 2) left.unshift(findings);
    }
    const found: (string | null)[] = [];
    const filter = { state: "any", project_id: "web", has_findings: true, limit: 1 } as const;
    for (let cursor: string | undefined; ; ) {
      const page = await fresh.answer(
        "list_sessions",
        cursor === undefined ? filter : { ...filter, cursor },
        fresh.root,
      );
      found.push(...page.body.map((session) => session.findings));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(found).toEqual(left);
    const none = await fresh.ask("list_sessions", { project_id: "web", has_findings: false }, fresh.root);
    expect(none).toMatchObject([{ findings: null }]);
    expect(await fresh.refusal("list_sessions", { project_id: "nowhere" }, agent)).toMatchObject({ code: "not_found" });
  });
});
