/** Scopes each under the last: any two overlap. */
export const CHAIN = Array.from({ length: 12 }, (_, depth) =>
  ["path:r", ...Array.from({ length: depth }, (_, at) => `l${at}`)].join("/"),
);
