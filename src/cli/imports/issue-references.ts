/** What an issue's text says it waits for; `repository` is missing where it is the issue's own. */
export interface IssueReference {
  readonly repository?: string | undefined;
  readonly number: number;
}

// A line that begins with one of these words, whatever list mark, box or emphasis stands before it. Within a sentence
// the same words also say the opposite ("no longer blocked by #12").
const PHRASE =
  /^\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[ \]\s+)?[*_]{0,3}(?:depends[ -]on|blocked[ -]by)\b[*_]{0,3}\s*:?[*_]{0,3}\s*/i;
const HEADING = /^\s*#{1,6}\s/;
const BULLET = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[ \]\s+)?/;
const REFERENCE =
  /\[[^\]]{0,500}\]\(https?:\/\/[^/\s()]{1,255}\/([\w.-]{1,100}\/[\w.-]{1,100})\/issues\/(\d{1,9})[^)\s]{0,200}\)|https?:\/\/[^/\s]{1,255}\/([\w.-]{1,100}\/[\w.-]{1,100})\/issues\/(\d{1,9})|([\w.-]{1,100}\/[\w.-]{1,100})?#(\d{1,9})\b/y;
const BETWEEN = /\s*(?:\([^()]{0,500}\)\s*)?(?:[,;&+]|and\b)?\s*/iy;

/**
 * What "Depends on #12" and "Blocked by #12" name in an issue's body: lines that begin so, and the list under such a
 * line or heading. Code, quotes, comments and ticked boxes say nothing.
 */
export function issueReferences(body: string): IssueReference[] {
  const found: IssueReference[] = [];
  let listing = false;
  for (const line of spokenLines(body)) {
    const title = HEADING.test(line) ? line.replace(HEADING, "") : line;
    const phrase = PHRASE.exec(title)?.[0];
    if (phrase !== undefined) {
      addReferences(title, phrase.length, found);
      listing = title.slice(phrase.length).trim() === "";
    } else if (HEADING.test(line)) listing = false;
    else if (listing && line.trim() !== "") {
      const bullet = BULLET.exec(line)?.[0];
      if (bullet !== undefined) addReferences(line, bullet.length, found);
      listing = bullet !== undefined;
    }
  }
  return found;
}

/** `owner/name` of an issue's address. */
export function repositoryOf(url: string | undefined): string | undefined {
  return /^https?:\/\/[^/\s]+\/([^/\s]+\/[^/\s]+)\/(?:issues|pull)\/\d+/.exec(url ?? "")?.[1];
}

function addReferences(line: string, begin: number, found: IssueReference[]): void {
  for (let at = begin; at < line.length; ) {
    REFERENCE.lastIndex = at;
    const match = REFERENCE.exec(line);
    if (match === null) break;
    found.push({ repository: match[1] ?? match[3] ?? match[5], number: Number(match[2] ?? match[4] ?? match[6]) });
    BETWEEN.lastIndex = REFERENCE.lastIndex;
    BETWEEN.exec(line);
    at = Math.max(BETWEEN.lastIndex, REFERENCE.lastIndex);
  }
}

/** The lines that are no code and no comment. */
function* spokenLines(body: string): Iterable<string> {
  let fence: string | undefined;
  for (const line of withoutComments(body).split(/\r\n?|\n/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined && mark === undefined) yield line;
    else if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) === true) fence = undefined;
  }
}

function withoutComments(body: string): string {
  let text = "";
  let from = 0;
  for (let at = body.indexOf("<!--"); at !== -1; at = body.indexOf("<!--", from)) {
    text += body.slice(from, at);
    const end = body.indexOf("-->", at + 4);
    if (end === -1) return text;
    from = end + 3;
  }
  return text + body.slice(from);
}
