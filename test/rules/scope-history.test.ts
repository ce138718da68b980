import { expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** So many claims that have ended, written past Dibs; `key` is the SQL for that of the `i`th. */
const ended = (name: string, count: number, key: string, { sessionId, id }: Actor) => `
  INSERT INTO scope_claims (id, workspace_id, project_id, namespace, scope, kind, key, index_key, mode, holder_agent, holder_session,
    intent, fence, claimed_at, lease_seconds, lease_until, ended_at, ended_how)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
  SELECT '${name}' || i, p.workspace_id, p.id, p.id, 'path:x', 'path', ${key}, ${key}, 'exclusive', '${id}', '${sessionId}',
    'x', i, 1, 60, 2, 2, 'released' FROM n CROSS JOIN projects p`;

test("the history of a folder is complete and newest first, page by page, also far behind what others did since", async () => {
  const fresh = await FreshStore.open();
  const ann = await fresh.worker("ann");
  await fresh.kept.exec(ended("a", 300, "'path:src/' || (i % 7) || '/'", ann));
  await fresh.kept.exec(ended("b", 300, "'path:src/'", ann));
  await fresh.kept.exec(ended("c", 300, "'path:src/' || i || '/deep/'", ann));
  await fresh.kept.exec(ended("d", 2100, "'path:srcs/' || i || '/'", ann));
  for (const [scope, of] of [
    ["path:src", /^path:src\//],
    ["path:src/3", /^path:src\/(3\/.*)?$/],
    ["path:srcs", /^path:srcs\//],
  ] as const) {
    const rows = await fresh.kept.rows<{ id: string; key: string }>(
      "SELECT id, key FROM scope_claims ORDER BY seq DESC",
    );
    const all = rows.filter(({ key }) => of.test(key)).map(({ id }) => id);
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const input = { scope, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
      const { body, nextCursor } = await fresh.answer("list_scope_history", input, fresh.root);
      seen.push(...body.map(({ id }) => id));
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(all);
    expect(seen.length).toBeGreaterThan(300);
  }
});
