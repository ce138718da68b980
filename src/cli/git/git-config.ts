/** The remotes of a git config file by name, each with the address it is fetched from. */
export function remotesIn(config: string): Map<string, string> {
  const remotes = new Map<string, string>();
  let section = "";
  for (const line of linesOf(config)) {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) section = nameOf(head[1] ?? "", head[2]);
    const [, key = "", value = ""] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line.slice(head?.[0].length ?? 0)) ?? [];
    if (!section.startsWith("remote.") || key.toLowerCase() !== "url") continue;
    const name = section.slice("remote.".length);
    // Git fetches from the first.
    if (!remotes.has(name)) remotes.set(name, plainValue(value));
  }
  return remotes;
}

/** Lines, those that end in a backslash with what follows. */
function linesOf(config: string): string[] {
  return config.replace(/\r\n/g, "\n").replace(/\\\n/g, "").split("\n");
}

/** Sections' names have no letter case, the names in quotation marks have one. */
function nameOf(section: string, quoted: string | undefined): string {
  const name = section.toLowerCase();
  return quoted === undefined ? name : `${name}.${quoted.replace(/\\(.)/g, "$1")}`;
}

/** Without its quotation marks, and the comment behind it. */
function plainValue(written: string): string {
  let value = "";
  let kept = 0;
  let inQuotes = false;
  for (const [part, escaped] of written.matchAll(/\\(.)|./g)) {
    if (part === '"') inQuotes = !inQuotes;
    else if (!inQuotes && (part === "#" || part === ";")) break;
    else value += escaped === undefined ? part : (ESCAPES[escaped] ?? escaped);
    if (inQuotes || part.trim() !== "") kept = value.length;
  }
  return value.slice(0, kept);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
