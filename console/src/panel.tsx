// biome-ignore-all lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard.
import { type ReactNode, useId } from "react";

/** A titled part of the room whose content scrolls by itself on wide screens, also by keyboard. */
export function Panel(props: {
  title: string;
  beside?: ReactNode;
  stale: boolean;
  className?: string;
  children: ReactNode;
}) {
  const titleId = useId();
  return (
    <div
      className={`flex min-h-0 flex-col overflow-hidden rounded-lg border border-line bg-panel ${props.className ?? ""}`}
    >
      <div className="flex items-baseline justify-between gap-3 border-b border-line px-4 py-2.5">
        <h2 id={titleId} className="text-sm font-semibold">
          {props.title}
        </h2>
        <span className="text-xs text-faint">{props.beside}</span>
      </div>
      <section
        tabIndex={0}
        aria-labelledby={titleId}
        className={`min-h-0 flex-1 lg:overflow-auto ${props.stale ? "opacity-60" : ""}`}
      >
        {props.children}
      </section>
    </div>
  );
}

/** What stands in a panel that has nothing to show: what that means, and the command that changes it. */
export function Nothing({ said, children }: { said: string; children?: ReactNode }) {
  return (
    <div className="px-4 py-8 text-center text-soft sm:px-8">
      <p className="font-medium text-ink">{said}</p>
      {children}
    </div>
  );
}

/** A command to type, as it is typed. */
export function Command({ children }: { children: string }) {
  return (
    <code className="mt-2 inline-block max-w-full overflow-x-auto rounded-md border border-line bg-ground px-3 py-1.5 text-left whitespace-pre text-ink">
      {children}
    </code>
  );
}
