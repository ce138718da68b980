const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  https: "443",
  http: "80",
  ssh: "22",
  "git+ssh": "22",
  "ssh+git": "22",
  git: "9418",
  ftp: "21",
  ftps: "990",
};
/** Hosts that tell no two repositories apart by letter case. */
const FOLDING = new Set(["github.com", "gitlab.com", "bitbucket.org"]);
/** Where these take ssh on a port that firewalls leave open. */
const ALSO_SSH: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};
const LENGTH_MAX = 500;

/**
 * What a remote of a git repository is called by everybody who has a clone, whichever way they reach it and whoever they
 * are there: `github.com/acme/shop`. User names, passwords and tokens are no part of it. A folder of the machine is
 * `file:/srv/git/shop`. A name gives itself. Undefined for what names no repository to others: a relative path, an address
 * that only a helper of git understands.
 */
export function remoteName(given: string): string | undefined {
  const text = given.trim();
  if (/\p{Cc}/u.test(text) || /^[\w.+-]*::/.test(text)) return undefined;
  const name = named(text);
  return name !== undefined && name.length <= LENGTH_MAX ? name : undefined;
}

/** Whether git takes the text for a folder of this machine. */
export function isLocalRemote(text: string): boolean {
  return /^file:/i.test(text) || /^[a-z]:[\\/]/i.test(text) || !/^(?:[a-z][a-z0-9+.-]*:\/\/|[^/]*:)/i.test(text);
}

function named(text: string): string | undefined {
  const url = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)/i.exec(text);
  if (/^file:(?=\/|[a-z]:)/i.test(text)) return folder(text.replace(/^file:(?:\/\/[^/]*(?=\/))?/i, ""), true);
  if (url) return onHost(url[2] ?? "", decoded(url[3] ?? ""), DEFAULT_PORTS[(url[1] ?? "").toLowerCase()]);
  if (/^(?:\/|[a-z]:[\\/])/i.test(text)) return folder(text, false);
  if (/^[.~\\]/.test(text)) return undefined;
  return shortForm(text);
}

/** `user@host:path`, as scp has it, or a name as this module gives it: `host/path`, `host:2222/path`. */
function shortForm(text: string): string | undefined {
  const port = /^((?:\[[^\]/]+\]|[^@/:[]+):\d+)(\/.+)$/.exec(text);
  if (port) return onHost(port[1] ?? "", port[2] ?? "", undefined);
  const scp = /^(?:[^/:]*@)?(\[[^\]/]+\]|[^@/:[]+):(.+)$/.exec(text) ?? /^(\[[^\]/]+\]|[^@/:[]+)\/(.+)$/.exec(text);
  return scp ? onHost(scp[1] ?? "", scp[2] ?? "", undefined) : undefined;
}

function onHost(authority: string, path: string, defaultPort: string | undefined): string | undefined {
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const [, given = "", port] = /^(\[[^\]]+\]|[^:[\]\s]+?)\.?(?::(\d*))?$/.exec(place) ?? [];
  const host = given.toLowerCase();
  const main = ALSO_SSH[host] ?? host;
  const kept = !port || port === defaultPort || main !== host ? "" : `:${port}`;
  const name = repositoryOf(path);
  if (host === "" || name === "") return undefined;
  return `${main}${kept}/${FOLDING.has(main) ? name.toLowerCase() : name}`;
}

function folder(path: string, encoded: boolean): string | undefined {
  const plain = (encoded ? decoded(path) : path).replaceAll("\\", "/");
  const name = repositoryOf(plain);
  if (name === "") return undefined;
  return `file:${plain.startsWith("/") && !/^\/[a-z]:\//i.test(plain) ? "/" : ""}${name}`;
}

/** Without what git adds or leaves out as it likes: slashes, `.git` at the end. */
function repositoryOf(path: string): string {
  return path
    .replace(/\/{2,}/g, "/")
    .replace(/^\//, "")
    .replace(/\/$/, "")
    .replace(/(?:^|\/)\.git$/, "")
    .replace(/\.git$/, "");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
