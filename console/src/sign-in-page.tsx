import type { ReactNode } from "react";
import { Mark } from "./mark.js";

/** While the first answers are under way. */
export function OpeningPage() {
  return (
    <Sheet title="Opening …">
      <p>Asking the server who you are.</p>
    </Sheet>
  );
}

/** No sign-in: none yet, one that ended, or a link that was refused (with the server's reason). */
export function SignedOutPage({ refused }: { refused?: string }) {
  return (
    <Sheet title={refused === undefined ? "You are not signed in" : "This link did not sign you in"}>
      {refused !== undefined && (
        <p role="alert" className="said rounded-md bg-hot-wash px-3 py-2 text-hot">
          {refused}
        </p>
      )}
      {refused === undefined && <p>This page opens with a one-time link. Your sign-in has ended, or there was none.</p>}
      <p>
        <code className="rounded bg-raised px-1.5 py-0.5">dibs up</code> prints a fresh one each time it starts:
      </p>
      <pre className="overflow-x-auto rounded-md border border-line bg-ground px-3 py-2 font-mono text-soft">
        {`${location.origin}/#code=…`}
      </pre>
      <p>
        <a href="/" className="font-medium text-calm underline underline-offset-4">
          Try again
        </a>{" "}
        if you have signed in meanwhile in another tab.
      </p>
    </Sheet>
  );
}

/** A single message in the middle of the page. */
export function Sheet({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <title>{`${title} · Dibs`}</title>
      <section className="w-full max-w-lg rounded-xl border border-line bg-panel p-6 sm:p-8">
        <Mark />
        <h1 className="mt-5 text-xl font-semibold tracking-tight">{title}</h1>
        <div className="mt-3 space-y-3 text-soft">{children}</div>
      </section>
    </main>
  );
}
