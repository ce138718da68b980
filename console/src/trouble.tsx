import { isDibsError } from "../../src/client/index.js";
import { timeText } from "./clock.js";
import { Age } from "./moment.js";
import type { Snapshot } from "./snapshot.js";

/** An error in words for the person who looks on, and what to do about it. */
export function whatIsWrong(error: Error): { title: string; text: string } {
  // With a cause the call failed on its way; without one the server itself said that its store is in trouble.
  if (isDibsError(error, "store_unavailable") && error.cause !== undefined)
    return {
      title: "The server can't be reached",
      text: "Nobody answers. Start it again with dibs up, or look at its log.",
    };
  if (isDibsError(error, "rate_limited")) return { title: "Too many questions", text: error.message };
  return { title: "The server could not answer", text: error.message };
}

/** Above old figures: that they are old, since when, and why. */
export function TroubleBanner({ error, snapshot }: { error: Error; snapshot: Snapshot }) {
  const { title, text } = whatIsWrong(error);
  const receivedAtEpochMs = performance.timeOrigin + snapshot.receivedAtMs;
  return (
    <div role="alert" className="mx-3 mb-3 rounded-lg bg-hot-wash px-4 py-2.5 text-hot sm:mx-4">
      <strong className="font-semibold">{title}.</strong> <span className="said">{text}</span>{" "}
      <span>
        What you see is from {timeText(receivedAtEpochMs, Date.now())},{" "}
        <Age at={new Date(snapshot.serverNowMs).toISOString()} from={snapshot} /> ago; leases may have been renewed or
        lost since.
      </span>
    </div>
  );
}
