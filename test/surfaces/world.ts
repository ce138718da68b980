import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Dibs, type DibsSession } from "dibs/client";
import type { Role } from "dibs/contract";
import { serve } from "dibs/server";
import { freshStore } from "../support/any-store.js";
import { QUICK_DISK } from "../support/quick-disk.js";

const ADMIN_KEY = "the-first-key-of-this-test-world";
const SERVER = {
  storeConnectionsMax: 4,
  migrate: true,
  host: "127.0.0.1",
  port: 0,
  adminKey: ADMIN_KEY,
  allowedHosts: [],
  rateLimitPerSecond: 1_000_000,
  rateBurst: 1_000_000,
  bodyLimitBytes: 1_048_576,
  logLevel: "silent",
  url: undefined,
  key: undefined,
  agent: "root",
  command: "dibs",
  session: undefined,
  project: undefined,
  color: undefined,
} as const;

/** Who may ask, with roles that fit their names. On the bare file everybody is an admin. */
export const PEOPLE = { ann: "worker", bob: "worker", lead: "coordinator", boss: "admin" } as const;
export type Name = keyof typeof PEOPLE;

export interface Person {
  readonly name: string;
  readonly agentId: string;
  readonly key: string;
  readonly sessionId: string;
  /** Bound to their session; how a test sets things up and looks at what came of them. */
  readonly dibs: DibsSession;
}

export type People = Readonly<Record<Name, Person>>;

/** A server on a store of its own, and people with keys and open sessions. */
export interface World {
  readonly url: string;
  /** The store's address: a process may open the same one beside the server. */
  readonly store: string;
  readonly people: People;
  /** Moves the clock that decides, for every process on the store. */
  passTime(seconds: number): Promise<void>;
  /** A project nobody has used yet. */
  newProject(): Promise<{ readonly id: string; readonly key: string }>;
  /** The person in a new session. */
  afresh(name: Name): Promise<Person>;
  /** One more person, for those who are deleted or locked out. */
  newPerson(role?: Role): Promise<Person>;
  /** Somebody of another workspace on the same server. */
  stranger(): Promise<{ key: string; dibs: Dibs }>;
  /** Every row of every table, but for signs of life: what must stay as it is when a call is refused. */
  contents(): Promise<Readonly<Record<string, readonly object[]>>>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const kept = await freshStore();
  const store = kept.url;
  const dir = mkdtempSync(join(QUICK_DISK, "dibs-surfaces-"));
  const served = await serve({ ...SERVER, store, adminKeyFile: join(dir, "admin-key") });
  const admin = new Dibs({ url: served.url, key: ADMIN_KEY });
  let made = 0;
  const unique = () => {
    made += 1;
    return made;
  };
  const person = async (name: string, role: Role): Promise<Person> => {
    const { id, key } = await admin.createAgent({ name, role });
    const dibs = await new Dibs({ url: served.url, key }).session({ client: "test", ttl_seconds: 86_400 });
    return { name, agentId: id, key, sessionId: dibs.record.id, dibs };
  };
  const people = {} as Record<Name, Person>;
  for (const [name, role] of Object.entries(PEOPLE)) people[name as Name] = await person(name, role);
  return {
    url: served.url,
    store,
    people,
    passTime: (seconds) => kept.exec(`UPDATE clock SET offset_ms = offset_ms + ${seconds * 1000}`),
    newProject: () => admin.createProject({ key: `row-${unique()}` }),
    async afresh(name) {
      const dibs = await people[name].dibs.session({ client: "test", ttl_seconds: 86_400 });
      return { ...people[name], dibs, sessionId: dibs.record.id };
    },
    newPerson: (role = "worker") => person(`person-${unique()}`, role),
    async stranger() {
      const { open } = await import("dibs");
      const beside = await open({ store });
      const { key } = await beside.createWorkspace(`elsewhere-${unique()}`);
      await beside.close();
      return { key, dibs: new Dibs({ url: served.url, key }) };
    },
    async contents() {
      // A call is a sign of life of its session, refused or not (R9).
      const { sessions = [], ...others } = await kept.contents(OWN_PACE);
      return { ...others, sessions: sessions.map(({ seen_at: _seen, expires_at: _expires, ...rest }) => rest) };
    },
    async close() {
      await served.stop();
      await kept.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What changes with time or with every change of another table, not by what a call did. */
const OWN_PACE = new Set(["clock", "duties", "versions"]);
