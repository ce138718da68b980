import type { z } from "zod";
import type { OperationName, Operations } from "../../contract/operations.js";
import * as agents from "../agents/agents.js";
import { ack_notices } from "../agents/notices.js";
import { get_presence } from "../agents/presence.js";
import * as projects from "../agents/projects.js";
import { project_for_repository } from "../agents/repositories.js";
import * as sessionEnd from "../agents/session-end.js";
import * as sessionOpen from "../agents/session-open.js";
import * as sessions from "../agents/sessions.js";
import type { Handler } from "../context.js";
import * as delegations from "../dependencies/delegations.js";
import * as dependencies from "../dependencies/dependency-edits.js";
import * as planViews from "../dependencies/plan-view.js";
import * as plans from "../dependencies/plans.js";
import { accept_handoff, decline_handoff } from "../handoffs/handoff-answers.js";
import * as handoffs from "../handoffs/handoffs.js";
import * as holds from "../holds/holds.js";
import { grant_wait } from "../line/overruling.js";
import * as taking from "../line/taking.js";
import * as waits from "../line/waits.js";
import * as yields from "../line/yields.js";
import * as recurrences from "../recurrences/recurrences.js";
import * as capacities from "../scopes/capacities.js";
import * as claimsTable from "../scopes/claims-table.js";
import * as scopeKeeping from "../scopes/scope-keeping.js";
import * as scopes from "../scopes/scopes.js";
import * as claiming from "../tasks/claiming.js";
import { complete_task } from "../tasks/completion.js";
import * as heads from "../tasks/head-reports.js";
import { judge_task } from "../tasks/judging.js";
import * as taskContext from "../tasks/task-context.js";
import * as creation from "../tasks/task-creation.js";
import * as notes from "../tasks/task-notes.js";
import * as tasks from "../tasks/tasks.js";
import * as work from "../tasks/work.js";
import * as unlanded from "../unlanded/unlanded.js";
import * as unlandedEnd from "../unlanded/unlanded-end.js";
import * as unlandedHands from "../unlanded/unlanded-hands.js";

/** The behaviour of every operation, by its name; a missing or wrongly typed one doesn't compile. */
export const handlers: { readonly [N in OperationName]: Handler<z.output<Operations[N]["input"]>> } = {
  claim_next_task: claiming.claim_next_task,
  claim_task: claiming.claim_task,
  heartbeat_task: work.heartbeat_task,
  release_task: work.release_task,
  complete_task,
  fail_task: work.fail_task,
  cancel_task: work.cancel_task,
  reopen_task: work.reopen_task,
  set_task_state: work.set_task_state,
  force_release_task: work.force_release_task,
  retry_task: work.retry_task,
  create_task: creation.create_task,
  create_tasks: creation.create_tasks,
  list_tasks: tasks.list_tasks,
  get_task: tasks.get_task,
  update_task: tasks.update_task,
  delete_task: tasks.delete_task,
  get_task_why: notes.get_task_why,
  get_task_history: notes.get_task_history,
  list_comments: notes.list_comments,
  add_comment: notes.add_comment,
  list_links: notes.list_links,
  add_link: notes.add_link,
  judge_task,
  report_head: heads.report_head,
  list_heads: heads.list_heads,
  get_task_context: taskContext.get_task_context,
  change_task_context: taskContext.change_task_context,
  list_context_versions: taskContext.list_context_versions,
  list_dependencies: dependencies.list_dependencies,
  add_dependencies: dependencies.add_dependencies,
  remove_dependency: dependencies.remove_dependency,
  delegate_task: delegations.delegate_task,
  get_task_chain: delegations.get_task_chain,
  create_plan: plans.create_plan,
  add_plan_steps: plans.add_plan_steps,
  list_plans: planViews.list_plans,
  get_plan: planViews.get_plan,
  get_plan_graph: planViews.get_plan_graph,
  claim_scopes: scopes.claim_scopes,
  heartbeat_scopes: scopeKeeping.heartbeat_scopes,
  release_scopes: scopeKeeping.release_scopes,
  check_scope: scopes.check_scope,
  list_scope_history: scopes.list_scope_history,
  set_scope_capacity: capacities.set_scope_capacity,
  list_scope_capacities: capacities.list_scope_capacities,
  handoff_task: handoffs.handoff_task,
  handoff_claim: handoffs.handoff_claim,
  list_handoffs: handoffs.list_handoffs,
  accept_handoff,
  decline_handoff,
  place_hold: holds.place_hold,
  list_holds: holds.list_holds,
  lift_hold: holds.lift_hold,
  declare_unlanded: unlanded.declare_unlanded,
  list_unlanded: unlanded.list_unlanded,
  transfer_unlanded: unlandedHands.transfer_unlanded,
  accept_unlanded: unlandedHands.accept_unlanded,
  decline_unlanded: unlandedHands.decline_unlanded,
  land_unlanded: unlandedEnd.land_unlanded,
  prune_unlanded: unlandedEnd.prune_unlanded,
  list_waits: waits.list_waits,
  get_wait: taking.get_wait,
  accept_wait: taking.accept_wait,
  cancel_wait: waits.cancel_wait,
  grant_wait,
  request_yield: yields.request_yield,
  answer_yield: yields.answer_yield,
  list_yields: yields.list_yields,
  get_presence,
  list_claims: claimsTable.list_claims,
  count_claims: claimsTable.count_claims,
  list_events: notes.list_events,
  open_session: sessionOpen.open_session,
  create_recurrence: recurrences.create_recurrence,
  list_recurrences: recurrences.list_recurrences,
  get_recurrence: recurrences.get_recurrence,
  update_recurrence: recurrences.update_recurrence,
  delete_recurrence: recurrences.delete_recurrence,
  list_sessions: sessions.list_sessions,
  get_session: sessions.get_session,
  heartbeat_session: sessions.heartbeat_session,
  end_session: sessionEnd.end_session,
  ack_notices,
  create_agent: agents.create_agent,
  list_agents: agents.list_agents,
  get_me: agents.get_me,
  get_agent: agents.get_agent,
  update_agent: agents.update_agent,
  delete_agent: agents.delete_agent,
  rotate_agent_key: agents.rotate_agent_key,
  revoke_agent_key: agents.revoke_agent_key,
  create_project: projects.create_project,
  list_projects: projects.list_projects,
  get_project: projects.get_project,
  update_project: projects.update_project,
  project_for_repository,
  get_workspace: projects.get_workspace,
  update_workspace: projects.update_workspace,
};
