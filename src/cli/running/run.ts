import { constants } from "node:os";
import type { Dibs } from "../../client/dibs.js";
import { HeldScopes } from "../../client/held-scopes.js";
import { isLost, WorkStopped } from "../../client/lease-keeper.js";
import { readConfig } from "../../config.js";
import { EXIT, isDibsError } from "../../contract/errors.js";
import { connect } from "../connect.js";
import { placeOf } from "../git/place.js";
import { scopeGiven } from "../git/scope-given.js";
import type { Output } from "../output.js";
import { shown } from "../shown/shown-text.js";
import { Child } from "./child.js";
import { requireProgram } from "./spawn-with.js";

export interface RunPlan {
  readonly program: readonly string[];
  readonly scopes: readonly string[];
  readonly mode: "exclusive" | "shared";
  readonly intent: string;
  readonly project: string | undefined;
  readonly leaseSeconds: number | undefined;
  /** How long it waits in line for what isn't free. */
  readonly waitSeconds: number | undefined;
  /** The session that was named for it. */
  readonly session: string | undefined;
}

/** The child has 5 s to end after its SIGTERM; this leaves it those before the lease is over. */
const MARGIN_MS = 6_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a program while its scopes are held. Gives the program's exit status, or ours when they were lost. */
export async function runHolding(plan: RunPlan, output: Output): Promise<number> {
  const [name = ""] = plan.program;
  requireProgram(name);
  const config = readConfig();
  const connection = await connect(config, { lasting: true });
  const interrupt = new AbortController();
  const stopWaiting = () => interrupt.abort();
  for (const signal of SIGNALS) process.on(signal, stopWaiting);
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, stopWaiting);
  };
  try {
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
        ...(await sessionFor(connection.dibs, plan.session, config.session)),
        marginMs: MARGIN_MS,
        signal: interrupt.signal,
        onNarrowed: (scopes) => output.say(`narrowed: holding ${scopes.map(shown).join(", ")} from now on`),
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

/**
 * The session that is named is the one that holds. Of DIBS_SESSION's that shares what it holds, as a run's and a worker's
 * around this one, it is a child: what is held around it is not in its way, and of two runs in it, as of `make -j`, each
 * keeps the other out, which two claims of one session would not.
 */
async function sessionFor(dibs: Dibs, named: string | undefined, around: string | undefined) {
  if (named !== undefined) return { within: named };
  const shares = around !== undefined && (await dibs.getSession({ session_id: around })).share_with_children;
  if (around !== undefined && !shares) return { within: around };
  const { host, worktree, branch } = placeOf(process.cwd());
  const parent = around === undefined ? {} : { parent_session_id: around };
  const place = { host, cwd: process.cwd(), worktree, branch };
  return { session: { client: "dibs-run", share_with_children: true, ...place, ...parent } };
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
 * by the clock. Kept on, they never did once the server was back, and the run with them.
 */
async function giveBack(held: HeldScopes, output: Output): Promise<Error | undefined> {
  try {
    await held.release();
  } catch (error) {
    if (isLost(error)) return error as Error;
    held.letLapse();
    const why = isDibsError(error) ? error.message : String(error);
    output.say(`the scopes could not be given back, they end by the clock: ${shown(why)}`);
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

/** Of several scopes DIBS_FENCE is the first one's: what checks it checks one name. DIBS_FENCES has each. */
function variablesFor({ claims, sessionId }: HeldScopes): Record<string, string> {
  return {
    DIBS_FENCE: String(claims[0]?.fence ?? ""),
    DIBS_FENCES: JSON.stringify(Object.fromEntries(claims.map(({ scope, fence }) => [scope, fence]))),
    DIBS_SCOPES: claims.map(({ scope }) => scope).join("\n"),
    DIBS_SESSION: sessionId,
  };
}
