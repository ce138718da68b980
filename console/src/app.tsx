import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ControlRoom } from "./control-room.js";
import { type Arrival, arrive, signOut } from "./sign-in.js";
import { OpeningPage, SignedOutPage } from "./sign-in-page.js";

/** The page: it settles how the visitor arrived, then shows the room or what is in the way. */
export function App({ arrival: first }: { arrival: Promise<Arrival> }) {
  const queries = useQueryClient();
  const [arrival, setArrival] = useState<Arrival>();

  useEffect(() => {
    const settle = (next: Arrival) => {
      if (next.state === "signed-in") queries.clear();
      setArrival(next);
    };
    first.then(settle);
    // A second link pasted into this tab changes the fragment only; the browser loads nothing anew.
    const arriveAgain = () => void arrive().then((next) => next.state !== "unchanged" && settle(next));
    window.addEventListener("hashchange", arriveAgain);
    return () => window.removeEventListener("hashchange", arriveAgain);
  }, [first, queries]);

  const leave = () => {
    // Where the server can't be reached the room's own banner says so, and the visitor stays signed in.
    signOut().then(
      () => setArrival({ state: "signed-out" }),
      () => undefined,
    );
  };

  if (arrival === undefined) return <OpeningPage />;
  if (arrival.state === "refused") return <SignedOutPage refused={arrival.reason} />;
  if (arrival.state === "signed-out") return <SignedOutPage />;
  return <ControlRoom onSignOut={leave} />;
}
