import type { Wanted } from "./names.js";
import type { Grant, Refusal, Task, Who } from "./records.js";
import { Scopes } from "./scopes.js";

/** What a claim of the next task passed over, and why. */
export interface PassedOver {
  readonly task: Task;
  readonly frozen: boolean;
  readonly inTheWay: readonly { id: string | null }[];
}

/** Tasks that say what they will touch: claimed with all of it or not at all (R16). */
export class ScopedTasks extends Scopes {
  readonly #declared = new Map<Task, readonly Wanted[]>();
  /** What the last claim of the next task passed over. */
  skipped: PassedOver[] = [];

  declares(task: Task): readonly Wanted[] {
    return this.#declared.get(task) ?? [];
  }

  declare(task: Task, wanted: readonly Wanted[]): void {
    this.#declared.set(task, wanted);
  }

  protected override isFrozen(task: Task): boolean {
    return super.isFrozen(task) || this.frozenNames(this.declares(task), task.project);
  }

  protected taskInTheWay(who: Who, task: Task): { id: string | null }[] {
    return this.inTheWay({ session: this.sessionOf(who), task, priority: task.priority }, this.declares(task));
  }

  override why(who: Who, task: Task): Refusal | null {
    const other = super.why(who, task);
    const inTheWay = other ? [] : this.taskInTheWay(who, task);
    return inTheWay.length > 0 ? this.taken(inTheWay) : other;
  }

  override claimNext(who: Who, input: Parameters<Scopes["claimNext"]>[1]): Task[] {
    this.skipped = [];
    return super.claimNext(who, input);
  }

  protected override passedOver(who: Who, task: Task): boolean {
    const inTheWay = this.taskInTheWay(who, task);
    if (super.passedOver(who, task)) {
      this.skipped.push({ task, frozen: true, inTheWay });
      this.reached("a frozen task was passed over");
      return true;
    }
    if (inTheWay.length === 0) return false;
    this.skipped.push({ task, frozen: false, inTheWay });
    this.reached("a task was passed over");
    return true;
  }

  /** All that it held goes with it, also what was claimed beside what it declares. */
  protected override passOn(who: Who, task: Task, seconds: number, before: Grant): void {
    const held = this.claims.filter((claim) => claim.grant === before && claim.ended === null);
    super.grantTo(who, task, seconds);
    const { live } = task;
    if (!live) return;
    for (const intent of new Set(held.map((claim) => claim.intent)))
      for (const claim of held.filter((each) => each.intent === intent))
        this.grantName(claim, { project: task.project, intent, session: live.session, task, seconds });
  }

  protected override grantTo(who: Who, task: Task, seconds: number): void {
    super.grantTo(who, task, seconds);
    const { live, project, content: intent } = task;
    if (!live) return;
    for (const each of this.declares(task)) {
      this.grantName(each, { project, intent, session: live.session, task, seconds });
      this.reached("claimed with a task");
    }
  }
}
