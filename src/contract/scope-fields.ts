import { z } from "zod";

/** Scopes that one call, or one task, may name. */
export const SCOPES_MAX = 1000;
export const scopeMode = z.enum(["exclusive", "shared"]);
export const scopeText = z.string();
export const oneScope = scopeText.describe("As `path:src/auth`, `port:3000`, `branch:feat/pay`.");

const AS_GIVEN = "must be a scope as `path:src/auth`, or {scope, mode}";

/** Scopes, each alone or with its mode. */
export const scopesWanted = z
  .array(
    z
      .union([scopeText, z.strictObject({ scope: scopeText, mode: scopeMode.optional() })], AS_GIVEN)
      .describe("Text as `path:src/auth`, or `{scope, mode}`."),
  )
  .max(SCOPES_MAX, "must name at most 1,000 scopes");
