/** What is written beside tasks, and what sessions are told. */

export interface CommentRow {
  seq: number;
  id: string;
  task_seq: number;
  task_id: string;
  agent_id: string;
  agent_name: string;
  body: string;
  kind: "comment" | "late_result";
  lease_id: string | null;
  created_at: number;
}

export interface LinkRow {
  seq: number;
  id: string;
  task_seq: number;
  task_id: string;
  agent_id: string;
  url: string;
  title: string | null;
  kind: string;
  created_at: number;
}

export interface NoticeRow {
  seq: number;
  id: string;
  session_id: string;
  type: string;
  task_id: string | null;
  at: number;
  message: string;
  data: string;
}

/** What a notice is about, as its data has it. */
export interface NoticeSubject {
  readonly field: "handoff_id" | "unlanded_id";
  readonly id: string;
}
