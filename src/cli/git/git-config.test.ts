import { expect, test } from "vitest";
import { remotesIn } from "./git-config.js";

test("remotes are read from a config as git reads it", () => {
  const config = String.raw`
# [remote "no"] url = commented
[core]
	url = not-a-remote
[Remote "origin"] ; the first address is fetched from
	fetch = +refs/heads/*:refs/remotes/origin/*
	URL = git@github.com:acme/shop.git # where it lives
	url = second
[remote "Quoted \"name\""]
	url = "https://example.org/a b;c#d" ; not this
	pushurl = elsewhere
[remote "long"]url = https://example.\
org/shop
[branch "main"]
	remote = origin
[remote.old]
	url = old-form
[remote "bare"]
`;
  expect(Object.fromEntries(remotesIn(config.replaceAll("\n", "\r\n")))).toEqual({
    origin: "git@github.com:acme/shop.git",
    'Quoted "name"': "https://example.org/a b;c#d",
    long: "https://example.org/shop",
    old: "old-form",
  });
});
