import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where systems keep a Chromium or Chrome of their own. */
const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/**
 * A headless browser: the machine's own where it has one, else the one that came by npm (Linux only). No browser is a
 * failure, never a skip. Nothing of its security is switched off but the sandbox, which root can't use.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = INSTALLED.find((path) => existsSync(path)) ?? (await browserFromNpm());
  const args = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"];
  try {
    return await chromium.launch({ executablePath, args, headless: true });
  } catch (cause) {
    throw new Error(
      `The browser ${executablePath} does not start. Where libraries are missing install libnss3, libnspr4 and libexpat1, or a whole Chromium.`,
      { cause },
    );
  }
}

async function browserFromNpm(): Promise<string> {
  if (process.platform !== "linux") throw new Error("Found no browser on this machine. Install Chrome or Chromium.");
  const { default: packed } = await import("@sparticuz/chromium");
  return packed.executablePath();
}
