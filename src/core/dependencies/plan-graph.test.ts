import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundsOf, cycleAmong, type Edge } from "./plan-graph.js";

/** Any graph of a few tasks, cycles and edges to tasks outside included. */
const graph = fc.record({
  size: fc.integer({ min: 0, max: 7 }),
  edges: fc.array(
    fc.record({ task_seq: fc.integer({ min: 0, max: 8 }), blocker_seq: fc.integer({ min: 0, max: 8 }) }),
    {
      maxLength: 14,
    },
  ),
});
const seqsOf = (size: number) => Array.from({ length: size }, (_, at) => at);
/** Whoever waits is younger: no cycle. */
const downwards = (edges: readonly Edge[]) => edges.filter(({ task_seq, blocker_seq }) => blocker_seq < task_seq);

/** Every way along the edges, first to last, found by trying all. */
function chains(seqs: readonly number[], edges: readonly Edge[]): number[][] {
  const onwards = (seq: number): number[][] => {
    const next = edges.filter((edge) => edge.blocker_seq === seq && seqs.includes(edge.task_seq));
    return [[seq], ...next.flatMap((edge) => onwards(edge.task_seq).map((rest) => [seq, ...rest]))];
  };
  return seqs.flatMap(onwards);
}

/** Whether the task waits for itself, over any number of others. */
function waitsForItself(seq: number, seqs: readonly number[], edges: readonly Edge[]): boolean {
  const reached = new Set<number>();
  const look = [seq];
  for (let at = 0; at < look.length; at += 1) {
    for (const { task_seq, blocker_seq } of edges) {
      if (task_seq !== look[at] || !seqs.includes(blocker_seq) || reached.has(blocker_seq)) continue;
      reached.add(blocker_seq);
      look.push(blocker_seq);
    }
  }
  return reached.has(seq);
}

describe("what bounds a plan (R27)", () => {
  test("is its longest chain, and as many at once as stand at one depth: as found by trying all", () => {
    fc.assert(
      fc.property(graph, ({ size, edges: any }) => {
        const [seqs, edges] = [seqsOf(size), downwards(any)];
        const all = chains(seqs, edges);
        const { criticalPath, fronts } = boundsOf(seqs, edges);
        expect(criticalPath.length).toBe(Math.max(0, ...all.map((chain) => chain.length)));
        if (size > 0) expect(all).toContainEqual([...criticalPath]);
        const depths = seqs.map((seq) => Math.max(...all.filter((c) => c.at(-1) === seq).map((c) => c.length)));
        const meant = [...new Set(depths)].sort().map((depth) => seqs.filter((_, at) => depths[at] === depth));
        expect(fronts.map((front) => [...front].sort())).toEqual(meant);
      }),
    );
  });

  test("of a chain of 100,000 is found without recursion", () => {
    const seqs = seqsOf(100_000);
    const edges = seqs.slice(1).map((seq) => ({ task_seq: seq, blocker_seq: seq - 1 }));
    const { criticalPath, fronts } = boundsOf(seqs, edges);
    expect(criticalPath).toEqual(seqs);
    expect(fronts.length).toBe(100_000);
    expect(cycleAmong(seqs, edges)).toBeUndefined();
    const closed = cycleAmong(seqs, [...edges, { task_seq: 0, blocker_seq: 99_999 }]);
    expect(closed?.length).toBe(100_001);
  });
});

test("a cycle is found where there is one, and is one: each waits for the next, the last is the first", () => {
  fc.assert(
    fc.property(graph, ({ size, edges }) => {
      const seqs = seqsOf(size);
      const way = cycleAmong(seqs, edges);
      expect(way !== undefined).toBe(seqs.some((seq) => waitsForItself(seq, seqs, edges)));
      if (!way) return;
      expect(way.length).toBeGreaterThan(1);
      expect(way.at(-1)).toBe(way[0]);
      expect(new Set(way).size).toBe(way.length - 1);
      for (const [at, seq] of way.slice(0, -1).entries())
        expect(edges).toContainEqual({ task_seq: seq, blocker_seq: way[at + 1] });
    }),
  );
});
