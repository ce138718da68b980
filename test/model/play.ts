import { type OpenStore, operations } from "dibs";
import type { Answer, Caller, OperationName } from "dibs/contract";
import { expect } from "vitest";
import type { Body, Input } from "../support/fresh-store.js";
import { compareBeat } from "./beats.js";
import { whoOf } from "./callers.js";
import { type CallStep, type Prepared, prepare } from "./calls.js";
import type { Expected } from "./expected.js";
import { above, apart } from "./families.js";
import { Looks } from "./looks.js";
import { NamesShown } from "./names-shown.js";
import { compareNoticeCount, compareNotices } from "./notices-shown.js";
import { type Agent, Refusal, type Session, type Who } from "./records.js";
import { Comparison, type Shown, same } from "./shown.js";
import { sign } from "./signs.js";
import type { Stage } from "./stage.js";
import type { Step } from "./steps.js";
import type { Scene } from "./subjects.js";
import { Yields } from "./yields.js";

type Got = { answer: Answer<unknown> } | { refused: { code: string; details: Record<string, unknown> } };

/** Steps in which nobody writes. */
const STILL: ReadonlySet<string> = new Set(["pass", "reach", "restart"]);
/** Of what the clock ended each call notices so much at least. */
const NOTICED_BY_ONE = 4;
/** One play: every step is done by the engine and by the model, and all that is answered and shown is compared. */
export class Play {
  readonly #compare: Comparison;
  readonly #rules: Yields;
  readonly #names: NamesShown;
  readonly #agents: (Agent & { caller: Caller })[];
  readonly #scene: Scene;
  readonly #looks: Looks;
  /** Through which of the stage's processes the calls go. */
  #desk = 0;

  private constructor(private readonly stage: Stage) {
    this.#rules = new Yields(stage.time.wallMs());
    this.#rules.tally = stage.tally;
    this.#names = new NamesShown(this.#rules, stage.cast.projects);
    this.#agents = stage.cast.agents.map((agent) => ({ ...agent, implicit: null }));
    this.#compare = new Comparison(stage.cast.projects);
    this.#scene = { rules: this.#rules, names: this.#names, agents: this.#agents, calls: 0 };
    this.#looks = new Looks(this.#scene, this.#compare, (name, input, caller) => this.#ask(name, input, caller));
  }

  /** Starts on a swept stage, with the opening played. */
  static async start(stage: Stage): Promise<Play> {
    const play = new Play(stage);
    for (const calls of stage.openings) await play.step({ do: "together", calls });
    return play;
  }

  async step(step: Step): Promise<void> {
    this.#desk = step.desk ?? 0;
    if (!STILL.has(step.do)) await this.#noticeMuch(step.do === "look" ? 1 : 0);
    if (step.do === "pass") this.#pass(step.ms);
    else if (step.do === "reach") this.#reach(step.ahead, step.offMs);
    else if (step.do === "sweep") await this.#call("open_session", {}, this.#observer);
    else if (step.do === "restart") await this.#restart();
    else if (step.do === "beat") await this.#beat(whoOf(this.#scene, step), step.ack);
    else if (step.do === "end") await this.#end(whoOf(this.#scene, step));
    else if (step.do === "look") await this.#looks.lookAround();
    else if (step.do === "together") await this.#together(step.calls);
    else {
      await this.#together([step]);
      // What one call answered of tasks is compared already.
      return this.#looks.compareNames();
    }
    // The other process sees what this one did.
    this.#desk = 1 - this.#desk;
    await this.#looks.compareAll();
  }

  /** What one call alone would not notice all of, or signs of life behind a read would. */
  async #noticeMuch(least: number): Promise<void> {
    const { unnoticed } = this.#rules;
    const calls = unnoticed > NOTICED_BY_ONE ? Math.ceil(unnoticed / NOTICED_BY_ONE) : least;
    for (let at = 0; at < calls; at += 1) await this.#call("open_session", {}, this.#observer);
  }

  /** With much due at once what the clock ended is told when it has been noticed; by heartbeats at once. */
  get #isBusy(): boolean {
    return this.stage.backlog > 0;
  }

  /** Looks on and holds nothing. */
  get #observer(): Caller {
    return (this.#agents[3] as { caller: Caller }).caller;
  }

  #pass(ms: number): void {
    this.stage.time.pass(ms);
    this.#rules.settle(this.stage.time.wallMs());
  }

  #reach(ahead: number, offMs: number): void {
    const instants = this.#rules.instants();
    const at = instants[Math.min(ahead, instants.length - 1)];
    if (at !== undefined) this.#pass(Math.max(0, at + offMs - this.#rules.nowMs));
  }

  async #restart(): Promise<void> {
    await this.stage.close();
    await this.stage.open();
  }

  async #call(name: OperationName, input: object, caller: Caller): Promise<Got> {
    try {
      const desk = this.stage.desks[this.#desk] as OpenStore;
      return { answer: (await desk.call(operations[name], input as never, caller)) as Answer<unknown> };
    } catch (thrown) {
      const { code, details } = thrown as { code?: string; details?: Record<string, unknown> };
      if (code === undefined) throw thrown;
      if (code === "internal") throw new Error(this.stage.faults.join());
      return { refused: { code, details: details ?? {} } };
    } finally {
      if (operations[name].effect === "write") this.#rules.notice();
    }
  }

  #callerOf({ agent, session }: Who): Caller {
    const { caller } = agent as Agent & { caller: Caller };
    return session?.id ? { ...caller, sessionId: session.id } : caller;
  }

  /** Calls of one instant: the engine takes them in one transaction, which must mean the same as one after another. */
  async #together(steps: readonly CallStep[]): Promise<void> {
    const prepared = apart(steps.map((each) => prepare(this.#scene, each)).filter((each) => each !== undefined));
    // The sessions' ends are read behind the calls in the same transaction: one less for every step.
    const [got, signs] = await Promise.all([
      Promise.all(prepared.map((each) => this.#call(each.name, each.input, this.#callerOf(each.who)))),
      this.#signsOf(prepared.flatMap(({ who, family }) => [who.session, family.parent, family.resumes])),
    ]);
    for (const [at, { name, family }] of prepared.entries()) {
      const answered = got[at] as Got;
      if (name !== "open_session" || !("answer" in answered) || !family.parent) continue;
      // Its sign of life is its parents', before anybody knows it.
      const { expires_at, ttl_seconds, resumed } = answered.answer.body as Body<"open_session">;
      const born: Session = { ...family.parent, parent: family.parent, ttlMs: (ttl_seconds ?? 0) * 1000 };
      if (!resumed) signs.set(born, Date.parse(expires_at ?? ""));
    }
    if (this.#rules.isUnsure) this.#rules.reservedNow = await this.#reservedNow();
    for (const [at, each] of prepared.entries()) {
      this.#compareCall(each, got[at] as Got, signs);
      this.#rules.notice();
    }
  }

  /** For which tasks names were reserved at this instant, as the log says. */
  async #reservedNow(): Promise<Set<string>> {
    const queued = await this.#ask("list_events", { types: ["scope.queued"], newest: true, limit: 50 });
    const now = new Date(this.#rules.nowMs).toISOString();
    const nobodys = queued.filter(({ at, data }) => at === now && !data.waiter_session_id);
    return new Set(nobodys.flatMap(({ task_id }) => task_id ?? []));
  }

  /** When each session ends by silence, as everybody can read. */
  async #signsOf(sessions: readonly (Session | null | undefined)[]): Promise<Map<Session, number>> {
    const signs = new Map<Session, number>();
    const read = async (session: Session) => {
      if (!session?.id) return;
      const { expires_at } = await this.#ask("get_session", { session_id: session.id });
      signs.set(session, Date.parse(expires_at ?? ""));
    };
    const all = sessions.flatMap((session) => (session ? [session, ...above(session)] : []));
    await Promise.all([...new Set(all)].map(read));
    return signs;
  }

  #compareCall(each: Prepared, got: Got, signs: Map<Session, number>): void {
    let expected: Expected | Refusal;
    const { agent, session } = each.who;
    if ("answer" in got && !this.#isBusy)
      compareNoticeCount(this.#rules, session ?? agent.implicit, got.answer.notices);
    try {
      this.#rules.role(each.who, each.role);
      if (!each.sessionless) this.#rules.alive(each.who);
      sign(this.#rules.nowMs, each.who.session, signs);
      this.#rules.caller = each.who.agent;
      expected = each.predict("refused" in got ? got.refused.code : undefined);
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      expected = thrown;
    } finally {
      this.#rules.caller = null;
    }
    if (expected instanceof Refusal) {
      if ("answer" in got) throw new Error(`${each.name} was to be refused with ${expected.code}`);
      this.#compare.refusal(expected, got.refused);
      return;
    }
    if ("refused" in got) throw new Error(`${each.name} was refused with ${JSON.stringify(got.refused)}`);
    same(got.answer.status, expected.status ?? 200);
    const body = got.answer.body as Record<string, unknown>;
    this.#compareAnswer(expected, body);
    const told = session ?? agent.implicit;
    if (told && "notices" in body && !this.#isBusy) compareNotices(this.#rules, told, body.notices as []);
  }

  #compareAnswer(expected: Expected, body: Record<string, unknown>): void {
    if (expected.none) same(body.task, null);
    if (expected.deleted) same(body, { deleted: true, id: expected.deleted.id });
    if (expected.opened) {
      const { session, resumed } = expected.opened;
      session.id ??= String(body.id);
      session.tokens.push(String(body.resume_token));
      const { id, parent } = session;
      same([body.id, body.resumed, body.parent_session_id], [id, resumed, parent?.id ?? null]);
      // A later call of the same instant may have moved it on already.
      const endsAtMs = Date.parse(String(body.expires_at));
      const least = this.#rules.nowMs + (session.ttlMs ?? 0);
      same([body.state, endsAtMs >= least && endsAtMs <= session.endsAtMs], ["open", true]);
    }
    expected.also?.(body);
    if (expected.hold) this.#compare.hold(expected.hold, body as Body<"place_hold">);
    if (expected.tasks) {
      const shown = (expected.many ? body.tasks : [body.task ?? body]) as Shown[];
      same(shown.length, expected.tasks.length);
      for (const [at, snap] of expected.tasks.entries()) this.#compare.task(snap, shown[at] as Shown);
    }
    if (expected.offer) this.#compare.offer(expected.offer, body as Body<"handoff_task">);
  }

  /** A session's heartbeat answers for each thing it holds and for each it lost (R9). */
  async #beat(who: Who, ack: boolean): Promise<void> {
    const session = who.session ?? who.agent.implicit;
    if (!session?.id) return;
    const got = await this.#call("heartbeat_session", { session_id: session.id }, this.#callerOf(who));
    const alive = session.state === "open";
    sign(this.#rules.nowMs, session, await this.#signsOf([session]));
    if (!alive || "refused" in got) {
      expect(got).toMatchObject({ refused: { code: alive ? "" : "session_ended" } });
      return;
    }
    const body = got.answer.body as Body<"heartbeat_session">;
    compareBeat(this.#rules, session, body);
    if (!ack || body.notices.length === 0) return;
    const ids = body.notices.map(({ id }) => id);
    const { acknowledged } = await this.#ask("ack_notices", { ids }, this.#callerOf(who));
    same(acknowledged, this.#rules.acknowledge(session, ids), "acknowledged");
  }

  async #end(who: Who): Promise<void> {
    const session = who.session ?? who.agent.implicit;
    if (!session?.id) return;
    const got = await this.#call("end_session", { session_id: session.id }, this.#callerOf(who));
    sign(this.#rules.nowMs, session, await this.#signsOf([session]));
    const { released, children, names } = this.#rules.endSession(who, session);
    this.#rules.notice();
    const freed = { tasks_released: released, claims_released: names, children_ended: children };
    expect(got).toMatchObject({ answer: { body: freed } });
  }

  /** After the play; `thoroughly`: also that the store says of itself what the answers said. */
  async lookBack(thoroughly: boolean): Promise<void> {
    await Promise.all([this.#looks.compareAll(), this.#looks.compareQueue()]);
    if (thoroughly) same(await this.stage.kept.broken(), []);
    if (this.#isBusy) return;
    await this.#noticeMuch(1);
    await Promise.all(this.#rules.sessions.map((session) => this.#looks.compareTold(session)));
  }

  async #ask<N extends OperationName>(name: N, input: Input<N>, caller = this.#observer): Promise<Body<N>> {
    const got = await this.#call(name, input as object, caller);
    if ("refused" in got) throw new Error(got.refused.code);
    return got.answer.body as Body<N>;
  }
}
