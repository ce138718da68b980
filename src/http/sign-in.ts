import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { invalidInput, isDibsError } from "../contract/errors.js";
import type { Admission } from "./admission.js";
import { CONSOLE_COOKIE } from "./credential.js";
import { JSON_TYPE, sendText, timeText } from "./headers.js";
import { parseBody } from "./json-body.js";
import { BASES } from "./operation-routes.js";
import type { SendProblem } from "./problems.js";
import type { SignIn } from "./settings.js";

export const signInInput = z.strictObject({
  code: z.string().min(1).max(200).describe("The one-time code from the link that the server printed."),
});
export const signInOutput = z.object({ agent_id: z.string(), expires_at: z.string() });

/**
 * `POST /v1/sign-in` exchanges a one-time code for the console's cookie, which no script can read and no other
 * site's request carries; `POST /v1/sign-out` ends that sign-in.
 */
export function mountSignIn(app: FastifyInstance, signIn: SignIn, admission: Admission, sendProblem: SendProblem) {
  const enter = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      admission.check(request.socket);
      const { token, agentId, expiresAtMs } = await signIn.redeem(codeOf(request));
      const seconds = Math.max(0, Math.floor((expiresAtMs - Date.now()) / 1000));
      reply.header("set-cookie", cookie(request, token, seconds));
      const answer: z.output<typeof signInOutput> = { agent_id: agentId, expires_at: timeText(expiresAtMs) };
      sendText(reply, 200, JSON_TYPE, JSON.stringify(answer));
    } catch (thrown) {
      if (isDibsError(thrown, "unauthorized")) admission.failed(request.socket);
      sendProblem(reply, thrown);
    }
  };
  const leave = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      if (request.credential?.kind === "cookie") await signIn.drop?.(request.credential.token);
      reply.header("set-cookie", cookie(request, "", 0));
      sendText(reply, 200, JSON_TYPE, '{"signed_out":true}');
    } catch (thrown) {
      sendProblem(reply, thrown);
    }
  };
  for (const base of BASES) {
    app.post(`${base}/sign-in`, { config: { open: true } }, (request, reply) => {
      void enter(request, reply);
    });
    app.post(`${base}/sign-out`, (request, reply) => {
      void leave(request, reply);
    });
  }
}

function codeOf(request: FastifyRequest): string {
  const parsed = signInInput.safeParse(parseBody(request.body as Buffer | undefined));
  if (parsed.success) return parsed.data.code;
  throw invalidInput("code", "must be the one-time code of the link, and the body's only field");
}

function cookie(request: FastifyRequest, token: string, maxAgeSeconds: number): string {
  // Behind TLS the browser says so in Origin; on plain loopback `Secure` would make some browsers drop the cookie.
  const secure = request.headers.origin?.startsWith("https:") ? "; Secure" : "";
  return `${CONSOLE_COOKIE}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
