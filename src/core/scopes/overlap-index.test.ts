import { expect, test } from "vitest";
import { keyOf } from "../../../test/support/scopes.js";
import { OverlapIndex } from "./overlap-index.js";
import { overlap } from "./scope-overlap.js";

test("an index of names finds the very ones that each name overlaps, in its own namespace", () => {
  const texts = ["a", "a", "a/b", "a/b/c", "ab", "b/a", "*", "a/*", "**/c", "a/**", "a*", "😀/b"].map(
    (text) => `path:${text}`,
  );
  texts.push("kb:a", "kb:**", "port:1", "port:1*", "branch:a/b", "branch:a/*");
  const names = ["one", "other"].flatMap((namespace) =>
    texts.map((text, at) => ({ namespace, key: keyOf(text), id: `${namespace} ${at} ${text}` })),
  );
  const index = new OverlapIndex(names, (name) => name);
  const ids = (of: readonly { readonly id: string }[]) => of.map(({ id }) => id).sort();
  for (const name of names) {
    const meant = names.filter((each) => each.namespace === name.namespace && overlap(each.key, name.key));
    expect(ids(index.overlapping(name)), name.id).toEqual(ids(meant));
  }
});
