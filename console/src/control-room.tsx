import { useQuery } from "@tanstack/react-query";
import { type DibsError, isDibsError } from "../../src/client/index.js";
import { Announcer } from "./announcer.js";
import { ClaimsPanel } from "./claims-panel.js";
import { EventsPanel } from "./events-panel.js";
import { Header } from "./header.js";
import { QueuePanel } from "./queue-panel.js";
import { Sheet, SignedOutPage } from "./sign-in-page.js";
import { dibs, loadCounts, loadSnapshot } from "./snapshot.js";
import { Tally } from "./tally.js";
import { TroubleBanner, whatIsWrong } from "./trouble.js";

const POLL_MS = 1_000;
const COUNTS_POLL_MS = 5_000;
const NAMES_POLL_MS = 30_000;

/** Polls while the page is visible; a sign-in that ended is not asked about again. */
const every = (ms: number) => ({
  refetchInterval: ({ state }: { state: { error: Error | null; data: unknown } }) =>
    signInEnded(state.error) ? false : state.data === undefined ? POLL_MS : ms,
  refetchOnWindowFocus: "always" as const,
});

const signInEnded = (error: Error | null): error is DibsError => isDibsError(error, "unauthorized");

/** Who holds what, now: the page of a visitor who is signed in. */
export function ControlRoom({ onSignOut }: { onSignOut: () => void }) {
  const names = useQuery({ queryKey: ["names"], queryFn: ({ signal }) => loadNames(signal), ...every(NAMES_POLL_MS) });
  // Asked once who the visitor is: one without a sign-in costs the server one question.
  const enabled = names.data !== undefined;
  const now = useQuery({
    queryKey: ["now"],
    queryFn: ({ signal }) => loadSnapshot(signal),
    enabled,
    ...every(POLL_MS),
  });
  const counts = useQuery({
    queryKey: ["counts"],
    queryFn: ({ signal }) => loadCounts(signal),
    enabled,
    ...every(COUNTS_POLL_MS),
  });

  const trouble = now.error ?? (enabled ? null : names.error);
  if (signInEnded(trouble)) return <SignedOutPage />;
  const snapshot = now.data;
  if (snapshot === undefined) {
    return trouble === null ? (
      <Sheet title="Opening …">
        <p>Asking the server who holds what.</p>
      </Sheet>
    ) : (
      <Sheet title={whatIsWrong(trouble).title}>
        <p role="alert" className="said">
          {whatIsWrong(trouble).text}
        </p>
        <p>This page tries again every second by itself.</p>
      </Sheet>
    );
  }
  const stale = trouble !== null;
  return (
    <div className="mx-auto flex min-h-dvh max-w-[110rem] flex-col lg:h-dvh">
      <title>{`${snapshot.held.length} held · Dibs`}</title>
      <Header names={names.data} snapshot={snapshot} stale={stale} onSignOut={onSignOut} />
      {trouble !== null && <TroubleBanner error={trouble} snapshot={snapshot} />}
      <Tally snapshot={snapshot} counts={counts.data} stale={stale} />
      <main className="grid flex-1 gap-3 p-3 pt-0 sm:px-4 sm:pb-4 md:max-lg:grid-cols-2 lg:min-h-0 lg:grid-cols-[minmax(0,1fr)_minmax(21rem,25rem)] xl:grid-cols-[minmax(0,1fr)_28rem] lg:grid-rows-[minmax(0,1fr)_minmax(0,1fr)]">
        <ClaimsPanel snapshot={snapshot} stale={stale} />
        <QueuePanel
          snapshot={snapshot}
          blocked={counts.data?.blocked ?? []}
          stale={stale}
          agentNames={names.data?.agents}
        />
        <EventsPanel snapshot={snapshot} stale={stale} agentNames={names.data?.agents} />
      </main>
      <Announcer snapshot={snapshot} stale={stale} />
    </div>
  );
}

/** Who is looking, at which workspace, and what its agents are called. */
export interface Names {
  readonly viewer: string;
  readonly role: string;
  readonly workspace: string;
  readonly agents: ReadonlyMap<string, string>;
}

async function loadNames(signal: AbortSignal): Promise<Names> {
  const me = await dibs.getMe({}, { signal });
  const [workspace, agents] = await Promise.all([
    dibs.getWorkspace({}, { signal }),
    dibs.listAgents({ limit: 1000 }, { signal }),
  ]);
  return {
    viewer: me.display_name ?? me.name,
    role: me.role,
    workspace: workspace.name,
    agents: new Map(agents.map((agent) => [agent.id, agent.name])),
  };
}
