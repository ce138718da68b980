import type { Draft, DraftItem } from "./draft.js";

/** A row that may be made of others. */
export interface Member {
  /** Without what follows from the family. */
  readonly item: DraftItem;
  /** Why it can't be read as it is, dependencies included. */
  readonly fault: string | undefined;
  readonly parent: Member | undefined;
  /** Keys of its children that are still to be done. */
  readonly openChildren: string[];
}

/**
 * Takes rows of a tree, parents before children: a parent waits for its children, as its work is what they leave, and
 * children wait for what their parent waits for; otherwise two agents would be given the same work, or work too early.
 */
export function takeFamily(members: readonly Member[], draft: Draft): void {
  const handedDown = new Map<Member, readonly string[]>();
  for (const member of members) {
    const { item, fault, parent, openChildren } = member;
    const partOf = parent === undefined ? undefined : partOfBad(parent);
    if (fault !== undefined || partOf !== undefined) {
      draft.refuse(item.place, fault ?? partOf ?? "", item.key);
      continue;
    }
    const fromParent = (parent === undefined ? undefined : handedDown.get(parent)) ?? [];
    const tooMany = draft.tooMany(item.dependsOn.length + fromParent.length + openChildren.length);
    if (tooMany !== undefined) {
      draft.refuse(item.place, tooMany, item.key);
      continue;
    }
    const waits = item.dependsOn.length === 0 ? fromParent : [...item.dependsOn, ...fromParent];
    // What a parent says of its own children is no matter of theirs.
    const children = new Set(openChildren);
    handedDown.set(member, children.size === 0 ? waits : waits.filter((key) => !children.has(key)));
    draft.take({ ...item, dependsOn: [...new Set([...waits, ...openChildren])] });
  }
}

function partOfBad({ item, fault, parent }: Member): string | undefined {
  if (fault !== undefined)
    return `is part of ${item.key}, and row ${item.place.row} with it can't be imported; mend that one first`;
  return parent === undefined ? undefined : partOfBad(parent);
}
