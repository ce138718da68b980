import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Dibs } from "dibs/client";
import { type Served, serve } from "dibs/server";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { launchBrowser } from "./support/browser.js";
import { QUICK_DISK } from "./support/quick-disk.js";

vi.setConfig({ testTimeout: 60_000 });

const ADMIN_KEY = "the-admin-key-of-the-console-test";
const HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>";

let browser: Browser;
let folder: string;
let served: Served;
let admin: Dibs;

function start(port = 0): Promise<Served> {
  return serve({
    store: `sqlite:${join(folder, "dibs.db")}`,
    adminKeyFile: join(folder, "admin-key"),
    storeConnectionsMax: 4,
    migrate: true,
    host: "127.0.0.1",
    port,
    adminKey: ADMIN_KEY,
    allowedHosts: [],
    rateLimitPerSecond: 2000,
    rateBurst: 4000,
    bodyLimitBytes: 1_048_576,
    logLevel: "silent",
    url: undefined,
    key: undefined,
    agent: "console-test",
    session: undefined,
    project: undefined,
    color: false,
    command: "dibs",
  });
}

beforeAll(async () => {
  browser = await launchBrowser();
  folder = mkdtempSync(join(QUICK_DISK, "dibs-console-"));
  served = await start();
  admin = new Dibs({ url: served.url, key: ADMIN_KEY });
  await admin.updateWorkspace({ lease_seconds_min: 1 });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await served?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A page in a browser that knows no cookie, and everything it complained of. */
interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  complaints: string[];
}

async function visit(options: { width?: number; colorScheme?: "dark" | "light" } = {}): Promise<Visit> {
  const { width = 1280, colorScheme = "dark" } = options;
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { context, page, complaints };
}

const row = (page: Page, title: string) => page.getByRole("row").filter({ hasText: title });

async function claimed(title: string, leaseSeconds: number) {
  const { id } = await admin.createTask({ content: title });
  return (await admin.claimTask({ task_id: id, lease_seconds: leaseSeconds })).task;
}

describe("the page of a visitor who is signed in", () => {
  let here: Visit;
  let page: Page;

  beforeEach(async () => {
    here = await visit();
    page = here.page;
    await page.goto(await served.newSignInLink());
    await page.getByRole("heading", { name: "Who holds what", exact: true }).waitFor();
  });
  afterEach(async () => {
    expect(here.complaints).toEqual([]);
    await here.context.close();
    for (const { id } of await admin.listTasks({ claimed: true })) await admin.completeTask({ task_id: id });
    for (const { id } of await admin.listTasks({ status: "open" })) await admin.deleteTask({ task_id: id });
  });

  test("opens by the one-time link, which leaves no code in the address and no key where a script could read it", async () => {
    expect(page.url()).toBe(`${served.url}/`);
    const cookies = await here.context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
    expect(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }))).toBe(
      "{}",
    );
  });

  // Twice more, as two seconds can pass unused on a machine whose cores are all at other tests.
  test("shows a claim within two seconds, with its holder, its task and a countdown that moves", {
    retry: 2,
  }, async () => {
    await page.getByText("Nobody holds anything.").waitFor();
    const task = await claimed("Write the release notes", 300);
    const shown = row(page, "Write the release notes");
    await shown.waitFor({ timeout: 2_000 });
    expect(await shown.textContent()).toContain("admin");
    const timer = shown.getByRole("timer");
    const before = await timer.textContent();
    expect(before).toMatch(/^(5:00|4:5\d)$/);
    await expect.poll(() => timer.textContent(), { timeout: 10_000 }).not.toBe(before);
    await admin.completeTask({ task_id: task.id });
    await shown.waitFor({ state: "detached" });
    await page.getByText("Nobody holds anything.").waitFor();
  });

  test("shows who offers what to whom until it is accepted, and then who has it (R39)", async () => {
    const task = await claimed("Pass me on", 300);
    const other = await admin.session({ client: "other" });
    const { id } = await admin.handoffTask({ task_id: task.id, to_session_id: other.record.id });
    await row(page, "offers it to admin").waitFor();
    await other.acceptHandoff({ handoff_id: id });
    await row(page, "offers it to admin").waitFor({ state: "detached" });
    await row(page, "Pass me on").filter({ hasText: "other" }).waitFor();
    await other.completeTask({ task_id: task.id });
    await other.end();
  });

  test("lets a lease that lapsed leave the table and marks its task in the queue (R1)", async () => {
    const task = await claimed("Walk away from this", 3);
    await row(page, "Walk away from this").waitFor();
    await row(page, "Walk away from this").waitFor({ state: "detached" });
    const waiting = page.getByRole("listitem").filter({ hasText: "Walk away from this" }).filter({ hasText: "lapsed" });
    await waiting.first().waitFor();
    expect(await waiting.first().textContent()).toContain("admin had it");
    await admin.deleteTask({ task_id: task.id });
    await waiting.first().waitFor({ state: "detached" });
  });

  test("shows what is frozen, until it is lifted (R41)", async () => {
    const hold = await admin.placeHold({ scope: "path:src/auth", reason: `the release ${HOSTILE}`, ttl_seconds: 600 });
    const shown = page.getByRole("list", { name: "Frozen" }).getByRole("listitem");
    await shown.filter({ hasText: /path:src\/auth.*by admin:\s*the release/ }).waitFor();
    await admin.liftHold({ hold_id: hold.id });
    await shown.waitFor({ state: "detached" });
  });

  test("shows work that hasn't landed, until it has (R42)", async () => {
    const work = await admin.declareUnlanded({ branch: "feat/login", scopes: ["path:src/auth"], intent: HOSTILE });
    const shown = page.getByRole("region", { name: "Unlanded work" }).getByRole("listitem");
    await shown.filter({ hasText: "feat/login" }).filter({ hasText: "path:src/auth" }).waitFor();
    await admin.landUnlanded({ unlanded_id: work.id });
    await shown.waitFor({ state: "detached" });
  });

  test("shows who waits in line for scopes, until it has them (R35)", async () => {
    const [first, second] = [await admin.session(), await admin.session()];
    const wanted = { scopes: ["path:src/line"], intent: HOSTILE, wait: true };
    await first.claimScopes(wanted);
    await second.claimScopes(wanted);
    const shown = page.getByRole("region", { name: "Waiting in line" }).getByRole("listitem");
    await shown.filter({ hasText: /number 1.*path:src\/line/ }).waitFor();
    await first.end();
    await shown.filter({ hasText: "offered" }).waitFor();
    await second.end();
    await shown.waitFor({ state: "detached" });
  });

  test("shows what agents write as text, whatever it looks like (C70, R60)", async () => {
    const task = await claimed(HOSTILE, 300);
    const waiting = await admin.createTask({
      content: HOSTILE,
      labels: ["</style><svg/onload=alert(3)>"],
      priority: 4,
    });
    await row(page, HOSTILE).waitFor();
    await page.getByText("</style><svg/onload=alert(3)>").waitFor();
    expect(await page.locator("img, [onerror], [onload], script:not([src])").count()).toBe(0);
    for (const { id } of [task, waiting]) await admin.cancelTask({ task_id: id, reason: "shown" });
    await row(page, HOSTILE).waitFor({ state: "detached" });
  });

  test("says that the server is gone and since when, keeps what it knew, and recovers by itself", async () => {
    await claimed("Outlive the server", 300);
    await row(page, "Outlive the server").waitFor();
    const { port } = new URL(served.url);
    await served.stop();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/can't be reached.*What you see is from/s);
    expect(await row(page, "Outlive the server").count()).toBe(1);
    expect(await page.getByText("Nobody holds anything.").count()).toBe(0);
    served = await start(Number(port));
    await alert.waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
    here.complaints = []; // of requests that were not answered, or refused
  });

  test("has its table named and in reach of the keyboard, and keeps its meaning at the width of a phone", async () => {
    await claimed("Fit on a phone", 300);
    await page.setViewportSize({ width: 360, height: 740 });
    const table = page.getByRole("table", { name: /Claims held now/ });
    await table.getByRole("row").filter({ hasText: "Fit on a phone" }).getByRole("cell").first().waitFor();
    expect(await table.getByRole("columnheader").allTextContents()).toEqual(["Agent", "Task", "Since", "Time left"]);
    const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    expect(await page.evaluate(overflow)).toBe(0);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Sign out");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.querySelector("table") !== null)).toBe(true);
  });

  test("asks nothing while nobody looks, and asks again when somebody does", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const look = (visibility: "hidden" | "visible") =>
      page.evaluate((state) => {
        Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      }, visibility);
    await page.waitForRequest(/\/v1\/claims/);
    await look("hidden");
    await page.waitForLoadState("networkidle");
    asked.length = 0;
    // The one case where time itself must pass: that three looks are left out can't be seen earlier.
    await page.waitForTimeout(3_000);
    expect(asked).toEqual([]);
    const next = page.waitForRequest(/\/v1\/claims/);
    await look("visible");
    await next;
  });

  test("signs out: the cookie is gone, and what it opened is closed", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    expect(await here.context.cookies()).toEqual([]);
    await page.goto(served.url);
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    here.complaints = []; // of requests that were not answered, or refused
  });
});

describe("a visitor who is not signed in", () => {
  test("is told so, and never shown an empty table", async () => {
    const { context, page } = await visit({ colorScheme: "light" });
    await page.goto(served.url);
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
    await context.close();
  });

  test("is told why a used link does not work and how to get another", async () => {
    const { context, page } = await visit();
    const link = await served.newSignInLink();
    const exchanged = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/v1/sign-in"));
    await page.goto(link);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    // An answer that nobody reads stays open until its time limit, and fails then.
    await exchanged;
    await context.close();

    const second = await visit();
    await second.page.goto(link);
    await second.page.getByRole("heading", { name: "This link did not sign you in" }).waitFor();
    expect(await second.page.getByRole("alert").textContent()).toMatch(/used|old/i);
    expect(await second.page.getByText("dibs up", { exact: true }).isVisible()).toBe(true);
    expect(second.page.url()).not.toContain("code");
    await second.context.close();
  });

  test("can paste a fresh link into the same tab", async () => {
    const { context, page } = await visit();
    await page.goto(served.url);
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    await page.goto(await served.newSignInLink());
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await context.close();
  });
});
