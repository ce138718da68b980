const ASCII = /^[\0-\x7f]*$/;

/**
 * Text with its differences of letter case taken away, for comparing names in projects whose disks don't tell them apart
 * (Windows, macOS): Unicode's case folding and canonical equivalence, the same in every language. `STRASSE`, `Straße` and
 * `strasse` are one name. Doing it twice changes nothing, and it knows no context, so that a folded pattern covers
 * exactly the folded names.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // Decomposed first: whether an accent stands in the letter or behind it, the letter is folded alike.
  return Array.from(text.normalize("NFD"), foldedCharacter).join("").normalize("NFC");
}

function foldedCharacter(character: string): string {
  // JavaScript's upper case of the Turkish dotless i is I; Unicode folds it to nothing else.
  if (character === "ı") return character;
  // Down first for capital ẞ, up for what has two small forms (σ ς), one by one as a whole word has its own final sigma.
  const folded = character.toLowerCase().toUpperCase().toLowerCase();
  // A ligature falls apart in upper case (ﬁ, FI). That is its compatibility form, and NFC keeps those apart as well (C80).
  const isLigature = folded.length > character.length && character.normalize("NFKD") !== character;
  return isLigature ? character : folded;
}
