/**
 * What texts were read as, each read once. Of more than `charactersMax` of texts all is forgotten: what was read takes many
 * times as much memory as its text.
 */
export function remembering<T extends string, R>(charactersMax: number, read: (text: T) => R): (text: T) => R {
  const before = new Map<T, R>();
  let characters = 0;
  return (text) => {
    const found = before.get(text);
    if (found !== undefined) return found;
    const made = read(text);
    if (characters + text.length > charactersMax) {
      before.clear();
      characters = 0;
    }
    characters += text.length;
    before.set(text, made);
    return made;
  };
}
