import { describe, expect, test } from "vitest";
import { isLocalRemote, remoteName } from "./remote-name.js";

const SAME: readonly string[] = [
  "https://github.com/acme/shop.git",
  "https://github.com/acme/shop",
  "https://github.com/acme/shop/",
  "https://github.com/acme/shop.git/",
  "https://GitHub.com/Acme/Shop.git",
  "https://github.com:443/acme/shop.git",
  "https://github.com./acme/shop",
  "http://github.com:80/acme//shop",
  "https://ann@github.com/acme/shop.git",
  "https://ann:s3cret@github.com/acme/shop.git",
  "https://x-access-token:ghp_s3cret@github.com/acme/shop",
  "https://ann@corp.example:s3cret@github.com/acme/shop",
  "https://github.com/acme/shop.git?token=s3cret#s3cret",
  "git@github.com:acme/shop.git",
  "git@github.com:/acme/shop.git",
  "github.com:acme/shop",
  "ssh://git@github.com/acme/shop.git",
  "ssh://git@github.com:22/acme/shop.git",
  "ssh://git@ssh.github.com:443/acme/shop.git",
  "git+ssh://git@github.com/acme/shop",
  "git://github.com/acme/shop.git",
  "git://github.com:9418/acme/shop.git",
  " https://github.com/acme/shop.git\n",
  "github.com/acme/shop",
];

const NAMES: readonly (readonly [given: string, name: string])[] = [
  ["https://git.corp.example/Acme/Shop.git", "git.corp.example/Acme/Shop"],
  ["https://git.corp.example:8443/acme/shop.git", "git.corp.example:8443/acme/shop"],
  ["ssh://ann:s3cret@git.corp.example:2222/acme/shop", "git.corp.example:2222/acme/shop"],
  ["git@git.corp.example:2222/shop.git", "git.corp.example/2222/shop"],
  ["git.corp.example:2222/acme/shop", "git.corp.example:2222/acme/shop"],
  ["https://git.corp.example/a%20b/shop", "git.corp.example/a b/shop"],
  ["ann@[2001:DB8::1]:src/shop.git", "[2001:db8::1]/src/shop"],
  ["ssh://[2001:db8::1]:2222/shop.git", "[2001:db8::1]:2222/shop"],
  ["https://git.corp.example/a%2520b/shop", "git.corp.example/a%20b/shop"],
  ["work:acme/shop.git", "work/acme/shop"],
  ["ssh://host.example/~ann/shop.git", "host.example/~ann/shop"],
  ["https://dev.azure.com/acme/web/_git/shop", "dev.azure.com/acme/web/_git/shop"],
  ["https://github.com/acme/shop.github.io", "github.com/acme/shop.github.io"],
  ["/srv/git/shop.git", "file:/srv/git/shop"],
  ["/home/ann/shop/.git", "file:/home/ann/shop"],
  ["file:///srv/git/My%20shop.git", "file:/srv/git/My shop"],
  ["file://localhost/srv/git/shop.git/", "file:/srv/git/shop"],
  ["C:\\src\\shop", "file:C:/src/shop"],
  ["file:///C:/src/shop.git", "file:C:/src/shop"],
];

const NONE: readonly string[] = [
  "",
  "../shop",
  "./shop.git",
  "~/shop",
  "shop",
  "ext::ssh -o s3cret host",
  "codecommit::eu-west-1://ann@shop",
  "https://github.com/",
  "https:///acme/shop",
  "https://ann:s3/cret@github.com/acme/shop",
  "https://github.com/acme/sh\u0000op",
  `https://github.com/${"a".repeat(500)}`,
];

describe("a remote's name is what all have in common who can reach it (R64)", () => {
  test.each(SAME)("%j is github.com/acme/shop", (given) => expect(remoteName(given)).toBe("github.com/acme/shop"));
  test.each(NAMES)("%j is %s", (given, name) => expect(remoteName(given)).toBe(name));
  test.each(NONE)("%j names no repository to others", (given) => expect(remoteName(given)).toBeUndefined());

  test("a name is its own name, and no credential is in any", () => {
    for (const given of [...SAME, ...NAMES.map(([text]) => text)]) {
      const name = remoteName(given) ?? "";
      expect(remoteName(name), given).toBe(name);
      expect(name).not.toMatch(/s3cret|ann(?!\/shop)/);
    }
  });
});

test.each([
  ["/srv/git/shop.git", true],
  ["../shop", true],
  ["shop", true],
  ["./a:b", true],
  ["file:///srv/git/shop", true],
  ["C:\\src\\shop", true],
  ["host:shop", false],
  ["git@host:shop", false],
  ["https://host/shop", false],
  ["ext::sh", false],
])("git takes %j for a folder of this machine: %s", (given, local) => expect(isLocalRemote(given)).toBe(local));
