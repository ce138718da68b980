import { z } from "zod";
import { cursor, limit, projectId, whole } from "./fields.js";
import { defineOperation } from "./operation.js";
import { oneScope } from "./scope-fields.js";

const places = z.object({
  project_id: z.string().describe("Where it was set; kinds that projects share have it in all."),
  scope: z.string(),
  capacity: z.number(),
  taken: z.number().describe("Places that are held now; more than there are, where there were more."),
  free: z.number(),
});

/** How many may hold a flat scope at once, each for itself (R32). */
export const capacityOperations = {
  set_scope_capacity: defineOperation({
    name: "set_scope_capacity",
    summary:
      "Let so many sessions hold a flat scope at once, as slot:gpu or port:3000. Who holds it now keeps it, also where there are fewer places then; 1 is as any other scope.",
    method: "PUT",
    path: "/v1/scopes/capacity",
    input: () =>
      z.strictObject({
        scope: oneScope,
        capacity: whole(1, 1000).describe("Places, 1..1,000."),
        project_id: projectId.optional(),
      }),
    output: () => places,
    errors: ["not_found", "invalid_scope"],
    role: "coordinator",
    effect: "write",
    nulls: "absent",
  }),
  list_scope_capacities: defineOperation({
    name: "list_scope_capacities",
    summary: "Flat scopes with more than one place, and how many are free.",
    method: "GET",
    path: "/v1/scopes/capacity",
    input: () => z.strictObject({ project_id: projectId.optional(), limit, cursor: cursor.optional() }),
    output: () => z.array(places),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
