import { z } from "zod";

/** Scopes that one call, or one task, may name. */
export const SCOPES_MAX = 1000;
/** No scope is this long; its own refusal names the segment. */
const GIVEN_MAX = 4096;

export const scopeMode = z.enum(["exclusive", "shared"]);
export const scopeText = z.string().max(GIVEN_MAX, "must have at most 1,024 bytes");
export const oneScope = scopeText.describe("As `path:src/auth`, `port:3000`, `branch:feat/pay`.");

/** Scopes, each alone or with its mode. */
export const scopesWanted = z
  .array(
    z
      .union([scopeText, z.strictObject({ scope: scopeText, mode: scopeMode.optional() })])
      .describe("Text as `path:src/auth`, or `{scope, mode}`."),
  )
  .max(SCOPES_MAX, "must name at most 1,000 scopes");
