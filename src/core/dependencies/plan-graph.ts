/** What waits for what, among a plan's tasks by their sequence numbers. */
export interface Edge {
  readonly task_seq: number;
  readonly blocker_seq: number;
}

/** Blockers before what waits for them (Kahn's algorithm), in the order given among equals; what is on a cycle is left out. */
function inOrder(seqs: readonly number[], edges: readonly Edge[]): number[] {
  const left = new Map(seqs.map((seq) => [seq, 0]));
  const after = new Map<number, number[]>();
  for (const { task_seq, blocker_seq } of edges) {
    const waits = left.get(task_seq);
    if (waits === undefined || !left.has(blocker_seq)) continue;
    left.set(task_seq, waits + 1);
    const others = after.get(blocker_seq);
    if (others) others.push(task_seq);
    else after.set(blocker_seq, [task_seq]);
  }
  const order = seqs.filter((seq) => left.get(seq) === 0);
  for (let at = 0; at < order.length; at += 1) {
    for (const seq of after.get(order[at] as number) ?? []) {
      const waits = (left.get(seq) as number) - 1;
      left.set(seq, waits);
      if (waits === 0) order.push(seq);
    }
  }
  return order;
}

export interface Bounds {
  /** The longest chain, first to last; the earlier written where several are equally long. */
  readonly criticalPath: readonly number[];
  /** Tasks that are under way together, when each starts as soon as it can and all take equally long. */
  readonly fronts: readonly (readonly number[])[];
}

/** What bounds the rest of a plan, whose tasks are the ones still to be done. Linear in tasks and edges, without recursion. */
export function boundsOf(seqs: readonly number[], edges: readonly Edge[]): Bounds {
  const open = new Set(seqs);
  const before = new Map<number, number[]>();
  for (const { task_seq, blocker_seq } of edges) {
    if (!open.has(blocker_seq)) continue;
    const others = before.get(task_seq);
    if (others) others.push(blocker_seq);
    else before.set(task_seq, [blocker_seq]);
  }
  const depth = new Map<number, number>();
  const longest = new Map<number, number>();
  const fronts: number[][] = [];
  let last: number | undefined;
  for (const seq of inOrder(seqs, edges)) {
    let at = 0;
    for (const blocker of before.get(seq) ?? []) {
      const reached = (depth.get(blocker) as number) + 1;
      if (reached <= at) continue;
      at = reached;
      longest.set(seq, blocker);
    }
    depth.set(seq, at);
    const front = fronts[at];
    if (front) front.push(seq);
    else fronts[at] = [seq];
    if (last === undefined || at > (depth.get(last) as number)) last = seq;
  }
  const criticalPath: number[] = [];
  for (let seq = last; seq !== undefined; seq = longest.get(seq)) criticalPath.push(seq);
  return { criticalPath: criticalPath.reverse(), fronts };
}

/** A cycle among the tasks, if there is one: each waits for the next, the last is the first again. */
export function cycleAmong(seqs: readonly number[], edges: readonly Edge[]): number[] | undefined {
  const ordered = new Set(inOrder(seqs, edges));
  // Whoever is left waits for somebody who is left: following that ends on a cycle.
  const rest = new Set(seqs.filter((seq) => !ordered.has(seq)));
  const left = new Map<number, number>();
  for (const { task_seq, blocker_seq } of edges)
    if (rest.has(task_seq) && rest.has(blocker_seq)) left.set(task_seq, blocker_seq);
  let [seq] = rest;
  const seen = new Map<number, number>();
  const way: number[] = [];
  while (seq !== undefined && !seen.has(seq)) {
    seen.set(seq, way.length);
    way.push(seq);
    seq = left.get(seq);
  }
  return seq === undefined ? undefined : [...way.slice(seen.get(seq)), seq];
}
