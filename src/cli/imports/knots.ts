/**
 * The groups of nodes that wait for each other in a circle (strongly connected, more than one node or a node that
 * waits for itself), in linear time and without recursion: a chain of 100,000 is a legal backlog. `waitsFor[n]` are the
 * nodes that n waits for.
 */
export function knotsOf(waitsFor: readonly (readonly number[])[]): number[][] {
  const search = new Search(waitsFor);
  for (let node = 0; node < waitsFor.length; node++) search.from(node);
  return search.knots;
}

/** One circle within a knot, its first node not repeated at the end. */
export function circleIn(knot: readonly number[], waitsFor: readonly (readonly number[])[]): number[] {
  const members = new Set(knot);
  const path: number[] = [];
  const standsAt = new Map<number, number>();
  let node = knot[0] ?? 0;
  while (!standsAt.has(node)) {
    standsAt.set(node, path.length);
    path.push(node);
    node = waitsFor[node]?.find((next) => members.has(next)) ?? node;
  }
  return path.slice(standsAt.get(node));
}

/** Tarjan's search: `low` is the earliest node still open that a node reaches. */
class Search {
  readonly knots: number[][] = [];
  private readonly found: Int32Array;
  private readonly low: Int32Array;
  private readonly closed: Uint8Array;
  private readonly nextEdge: Int32Array;
  private readonly open: number[] = [];
  private count = 0;

  constructor(private readonly waitsFor: readonly (readonly number[])[]) {
    this.found = new Int32Array(waitsFor.length);
    this.low = new Int32Array(waitsFor.length);
    this.closed = new Uint8Array(waitsFor.length);
    this.nextEdge = new Int32Array(waitsFor.length);
  }

  from(root: number): void {
    if (this.found[root] !== 0) return;
    const path = [root];
    this.enter(root);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const next = this.waitsFor[node]?.[this.nextEdge[node] ?? 0];
      if (next === undefined) {
        path.pop();
        this.leave(node, path.at(-1));
        continue;
      }
      this.nextEdge[node] = (this.nextEdge[node] ?? 0) + 1;
      if (this.found[next] === 0) {
        path.push(next);
        this.enter(next);
      } else if (this.closed[next] === 0) this.lower(node, this.found[next] ?? 0);
    }
  }

  private enter(node: number): void {
    this.count++;
    this.found[node] = this.count;
    this.low[node] = this.count;
    this.open.push(node);
  }

  private lower(node: number, to: number): void {
    this.low[node] = Math.min(this.low[node] ?? 0, to);
  }

  private leave(node: number, parent: number | undefined): void {
    if (parent !== undefined) this.lower(parent, this.low[node] ?? 0);
    if (this.low[node] !== this.found[node]) return;
    const knot = this.open.splice(this.open.lastIndexOf(node));
    for (const member of knot) this.closed[member] = 1;
    if (knot.length > 1 || this.waitsFor[node]?.includes(node)) this.knots.push(knot.reverse());
  }
}
