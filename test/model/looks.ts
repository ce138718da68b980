import type { Caller, OperationName } from "dibs/contract";
import type { Body, Input } from "../support/fresh-store.js";
import { FILTERS } from "./filters.js";
import { compareLine } from "./line-shown.js";
import { compareNotices } from "./notices-shown.js";
import type { Agent, Session, Task } from "./records.js";
import { type Comparison, ids, type Shown, same, snapshot } from "./shown.js";
import { leaseEndMs } from "./standing.js";
import type { Scene } from "./subjects.js";
import { compareYield } from "./yield-calls.js";

type Ask = <N extends OperationName>(name: N, input: Input<N>, caller?: Caller) => Promise<Body<N>>;

/** All that can be asked about how things stand, compared with what the model says of it. */
export class Looks {
  readonly #scene: Scene;
  readonly #compare: Comparison;
  readonly #ask: Ask;

  constructor(scene: Scene, compare: Comparison, ask: Ask) {
    this.#scene = scene;
    this.#compare = compare;
    this.#ask = ask;
  }

  /** The whole list, read by somebody else, who notices nothing. */
  async compareAll(): Promise<void> {
    const shown = await this.#ask("list_tasks", { limit: 1000 });
    const tasks = this.#scene.rules.tasks.filter((task) => !task.deleted);
    same(ids(shown), ids(tasks));
    for (const [at, task] of tasks.entries()) this.#compare.task(snapshot(this.#scene.rules, task), shown[at] as Shown);
    await this.compareNames();
  }

  async compareNames(): Promise<void> {
    if (this.#scene.rules.claims.length > 0) this.#scene.names.table(await this.#ask("list_claims", { limit: 1000 }));
    if (this.#scene.rules.tickets.length > 0) compareLine(this.#scene.rules, await this.#ask("list_waits", {}));
  }

  /** Every way of asking about the same state says the same (R14, R17). */
  async lookAround(): Promise<void> {
    const tasks = this.#scene.rules.tasks.filter((task) => !task.deleted);
    const filtered = FILTERS.map(async ([filter, fits]) => {
      const listed = await this.#ask("list_tasks", { ...filter, sort: "created" });
      const fitting = tasks.filter((task) => fits(snapshot(this.#scene.rules, task).fields as Shown));
      same(ids(listed), ids(fitting), JSON.stringify(filter));
    });
    await Promise.all([...filtered, ...tasks.map((task) => this.#compareWhy(task)), this.compareQueue()]);
  }

  async compareQueue(): Promise<void> {
    const asked = [this.#ask("list_claims", { kind: "task" }), this.#ask("list_handoffs", { whose: "all" })] as const;
    const [ready, claims, offers] = await Promise.all([this.#ask("list_tasks", { ready: true }), ...asked]);
    same(ids(ready), ids(this.#scene.rules.queue()));
    same(ids(offers), ids(this.#scene.rules.offers.filter((offer) => this.#scene.rules.stands(offer))));
    same(
      ids(await this.#ask("list_holds", {})),
      ids(this.#scene.rules.freezes.filter((hold) => this.#scene.rules.isLive(hold))),
    );
    const held = this.#scene.rules.tasks.flatMap(({ live }) =>
      live ? [[live.id, leaseEndMs(live) - this.#scene.rules.nowMs]] : [],
    );
    same(
      [...claims].map((claim) => [claim.lease_id, claim.remaining_ms]),
      held,
    );
    await this.#compareYields();
    const places = await this.#ask("list_scope_capacities", {});
    same(places.map(({ capacity }) => capacity).sort(), this.#scene.rules.places.several(), "places");
  }

  /** What an open session is told, whoever of its agent asks. */
  async compareTold(session: Session): Promise<void> {
    if (session.state !== "open" || session.id === null) return;
    const { caller } = session.agent as Agent & { caller: Caller };
    const { notices } = await this.#ask("get_session", { session_id: session.id }, caller);
    compareNotices(this.#scene.rules, session, notices);
  }

  async #compareYields(): Promise<void> {
    const { rules } = this.#scene;
    if (rules.askings.length === 0) return;
    const [all, open] = await Promise.all([this.#ask("list_yields", {}), this.#ask("list_yields", { open: true })]);
    same(all.length, rules.askings.length);
    for (const [at, asking] of rules.askings.entries()) compareYield(asking, all[at] as (typeof all)[number]);
    same(ids(open), ids(rules.askings.filter((each) => rules.isOpen(each))), "what is asked and not answered");
  }

  async #compareWhy(task: Task): Promise<void> {
    for (const agent of this.#scene.agents.slice(0, 2)) {
      const who = { agent, session: null };
      const why = await this.#ask(
        "get_task_why",
        { task_id: task.id ?? "" },
        (agent as Agent & { caller: Caller }).caller,
      );
      this.#scene.rules.caller = agent;
      const code = this.#scene.rules.holds(who, task) ? null : (this.#scene.rules.why(who, task)?.code ?? null);
      same([why.code, why.ready], [code, this.#scene.rules.ready(task)], task.content);
      this.#scene.rules.caller = null;
    }
    this.#compare.comments(task, await this.#ask("list_comments", { task_id: task.id ?? "" }));
  }
}
