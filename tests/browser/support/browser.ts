import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { findChromium } from '@quittance/local-backends/chromium.ts';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

/** The devices that pages are looked at with. */
const devices = {
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true },
  smallPhone: { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
} as const satisfies Record<string, BrowserContextOptions>;

export type Device = keyof typeof devices;

export type VisitOptions = BrowserContextOptions & {
  device?: Device;
  /** What may be said on the console, where a test provokes it. */
  expected?: RegExp;
};

/** A browser of one visitor, with no other visitor's history in it. */
export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Everything that a page must not do: errors, warnings, breaches of its own policy, requests to another host. */
  complaints: string[];
};

export type TestBrowser = {
  visit(options?: VisitOptions): Promise<Visit>;
  /**
   * The page of a visitor who only looks, kept for the next one with the same options: a new visit takes longer to open than a page to look at.
   * @param who where the site knows its visitors.
   */
  look(options?: VisitOptions, who?: string): Promise<Page>;
  /** @throws Error listing what pages complained about since the last time; every visit of its own is closed. */
  leaveAll(): Promise<void>;
  close(): Promise<void>;
};

/** One real browser; each visit is shut off from the others. @param options.forReading with fonts for every language. */
export async function openBrowser({ forReading = false }: { forReading?: boolean } = {}): Promise<TestBrowser> {
  const found = await findChromium({ toolsDirectory: stackDirectory().tools, forReading });
  const browser = await chromium.launch({
    executablePath: found.program,
    env: { ...ownEnvironment(), ...found.env },
    chromiumSandbox: found.canSandbox,
    // Names cannot be looked up, so that nothing but this machine can be reached, whatever a page holds.
    args: ['--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  let visits: Visit[] = [];
  const lookers = new Map<string, Visit>();
  return {
    async visit(options = {}) {
      const visit = await openVisit(browser, options);
      visits.push(visit);
      return visit;
    },
    async look(options = {}, who = '') {
      const key = JSON.stringify({ ...options, expected: String(options.expected), who });
      const looker = lookers.get(key) ?? (await openVisit(browser, options));
      lookers.set(key, looker);
      return looker.page;
    },
    async leaveAll() {
      const left = visits;
      visits = [];
      for (const { context } of left) await context.close();
      const complaints = [...left, ...lookers.values()].flatMap((visit) => visit.complaints.splice(0));
      if (complaints.length > 0) throw new Error(`pages complained:\n${complaints.join('\n')}`);
    },
    close: () => browser.close(),
  };
}

async function openVisit(browser: Browser, { device = 'phone', expected, ...options }: VisitOptions): Promise<Visit> {
  // What moves without an end is drawn sixty times a second, by the processor here, for as long as its page is open.
  const still = { reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ locale: 'en-US', ...still, ...devices[device], ...options });
  context.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  const complain = (text: string) => {
    if (expected?.test(text) !== true) complaints.push(text);
  };
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') complaints.push(`a request to ${request.url()}`);
  });
  // Breaches of the content security policy are told here too.
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complain(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => complain(`error: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page: await context.newPage(), context, complaints };
}

/** Ours without what is undefined. */
function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
