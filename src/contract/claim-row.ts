import { z } from "zod";

/** A row of the table of everything held; also the `holder` of every refusal. */
export const claimRow = z.object({
  id: z.string(),
  project_id: z.string(),
  scope: z.string().describe("`task:ID` for a held task."),
  kind: z.string(),
  mode: z.enum(["exclusive", "shared"]),
  agent_id: z.string(),
  agent_name: z.string(),
  session_id: z.string(),
  implicit: z.boolean().describe("The session was not opened by a call."),
  client: z.string().nullable(),
  branch: z.string().nullable(),
  task_id: z.string().nullable(),
  intent: z.string().describe("What it is held for: a task's title, or what its holder said."),
  fence: z.number(),
  lease_id: z.string(),
  claimed_at: z.string(),
  expires_at: z.string(),
  remaining_ms: z.number(),
});
export type ClaimRow = z.output<typeof claimRow>;
