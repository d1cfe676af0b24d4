import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Nothing of the browser's own goes to the network. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const executable = (): string => {
  const found = process.env['PILOTHOUSE_TEST_CHROMIUM'] ?? CANDIDATES.find((path) => existsSync(path));
  if (!found) throw new Error('no Chromium on this machine; set PILOTHOUSE_TEST_CHROMIUM to one');
  return found;
};

/** For what hangs, not for what is slow: a machine may do much else at the same time. */
const STEP_LIMIT_MS = 180_000;

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable(),
    // Chromium refuses to run as root with its sandbox on.
    args: process.getuid?.() === 0 ? ['--no-sandbox', ...QUIET] : QUIET,
  });

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the page complained about: errors, refused loads, violations of its policy. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** A browser of its own, with no memory of others, that accepts our unknown authority. */
export const visit = async (browser: Browser, url: string): Promise<Visit> => {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en-US',
    colorScheme: 'light',
    // What moves has to come to rest before it can be clicked, and is painted by the processor.
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(STEP_LIMIT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(url);
  return { context, page, complaints, close: () => context.close() };
};
