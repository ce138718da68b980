import { constants } from "node:os";
import { HeldScopes } from "../client/held-scopes.js";
import { isLost, WorkStopped } from "../client/lease-keeper.js";
import { readConfig } from "../config.js";
import { EXIT, isDibsError } from "../contract/errors.js";
import { SCOPE_KINDS } from "../contract/scope-kind.js";
import { Child } from "./child.js";
import { connect } from "./connect.js";
import { usage } from "./failure.js";
import type { Output } from "./output.js";
import { placeOf } from "./place.js";
import { scopeGiven } from "./scope-given.js";
import { shown } from "./shown-text.js";
import { canStart } from "./spawn-with.js";

export interface RunPlan {
  readonly program: readonly string[];
  readonly scopes: readonly string[];
  readonly mode: "exclusive" | "shared";
  readonly intent: string;
  readonly project: string | undefined;
  readonly leaseSeconds: number | undefined;
  /** How long it waits in line for what isn't free. */
  readonly waitSeconds: number | undefined;
}

/** The child has 5 s to end after its SIGTERM; this leaves it those before the lease is over. */
const MARGIN_MS = 6_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a program while its scopes are held. Gives the program's exit status, or ours when they were lost. */
export async function runHolding(plan: RunPlan, output: Output): Promise<number> {
  const [name = ""] = plan.program;
  if (name.includes("=") || !canStart(name)) throw usage(`There is no program ${shown(name)} to run.`).error;
  const connection = await connect(readConfig(), { lasting: true });
  const interrupt = new AbortController();
  const stopWaiting = () => interrupt.abort();
  for (const signal of SIGNALS) process.on(signal, stopWaiting);
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, stopWaiting);
  };
  try {
    const { host, worktree, branch } = placeOf(process.cwd());
    const held = await HeldScopes.claim(
      connection.dibs,
      {
        scopes: plan.scopes.map((scope) => scopeGiven(scope, process.cwd())),
        mode: plan.mode,
        intent: plan.intent,
        ...(plan.project ? { project_id: plan.project } : {}),
        ...(plan.leaseSeconds ? { ttl_seconds: plan.leaseSeconds } : {}),
      },
      {
        session: { client: "dibs-run", host, cwd: process.cwd(), worktree, branch },
        marginMs: MARGIN_MS,
        signal: interrupt.signal,
        ...(plan.waitSeconds
          ? {
              waitSeconds: plan.waitSeconds,
              onPlace: (position) => output.say(`waiting for ${plan.scopes.join(", ")}: number ${position} in line`),
            }
          : {}),
      },
    );
    // A signal that came while the grant was on its way: it is for us, as no command runs yet.
    if (interrupt.signal.aborted) {
      await giveBack(held, output);
      return EXIT.interrupted;
    }
    stopListening();
    return await runWith(held, plan, output);
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    stopListening();
    await connection.close();
  }
}

async function runWith(held: HeldScopes, plan: RunPlan, output: Output): Promise<number> {
  output.say(`holding ${held.claims.map(({ scope, fence }) => `${scope} (fence ${fence})`).join(", ")}`);
  const child = new Child({
    program: plan.program,
    variables: variablesFor(held),
    stdin: null,
    echo: output.json ? process.stderr : null,
  });
  let interrupted = false;
  const interrupt = () => {
    if (interrupted) child.kill();
    interrupted = true;
    child.stop();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  let lostIt = false;
  const stop = () => {
    lostIt = true;
    output.say(`stopping the command: ${whyStopped(held.signal.reason)}`);
    child.stop();
  };
  held.signal.addEventListener("abort", stop, { once: true });
  if (held.signal.aborted) stop();
  let status: number | NodeJS.Signals;
  try {
    ({ status } = await child.ended);
  } finally {
    const loss = await giveBack(held, output);
    if (loss && !lostIt) {
      lostIt = true;
      output.say(`lost before the command ended, which may have run beside another: ${shown(loss.message)}`);
    }
  }
  const exit = lostIt ? EXIT.leaseLost : interrupted ? EXIT.interrupted : exitOf(status);
  if (output.json) output.value({ exit, lost: lostIt, claims: held.claims });
  return exit;
}

/**
 * Gives what was found lost by then. The command's own end says more than that its scopes could not be given back: these end
 * by the clock.
 */
async function giveBack(held: HeldScopes, output: Output): Promise<Error | undefined> {
  try {
    await held.release();
  } catch (error) {
    if (isLost(error)) return error as Error;
    output.say(`the scopes could not be given back, they end by the clock: ${shown(String(error))}`);
  }
  return undefined;
}

/** As a shell tells a signal. */
function exitOf(status: number | NodeJS.Signals): number {
  return typeof status === "number" ? status : 128 + constants.signals[status];
}

function whyStopped(reason: unknown): string {
  if (!(reason instanceof WorkStopped)) return "a scope is lost.";
  return isDibsError(reason.cause) ? shown(reason.cause.message) : "the scopes can't be known to be held any more.";
}

/**
 * Fences of one project, or of the workspace's kinds, come from one counter: the highest is above every earlier grant that
 * overlaps any of them. Of both at once no number would be.
 */
function variablesFor({ claims, sessionId }: HeldScopes): Record<string, string> {
  const counters = new Set(
    claims.map(({ kind, project_id }) => {
      const known = SCOPE_KINDS.get(kind);
      // Whose a workspace's own kind is, isn't known here: its fence stands by itself.
      if (known === undefined) return `kind ${kind}`;
      return known.reach === "workspace" ? "" : project_id;
    }),
  );
  return {
    ...(counters.size === 1 ? { DIBS_FENCE: String(Math.max(...claims.map(({ fence }) => fence))) } : {}),
    DIBS_FENCES: JSON.stringify(Object.fromEntries(claims.map(({ scope, fence }) => [scope, fence]))),
    DIBS_SCOPES: claims.map(({ scope }) => scope).join("\n"),
    DIBS_SESSION: sessionId,
  };
}
