import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { findChromium } from '@quittance/local-backends/chromium.ts';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

/** The devices that tests emulate. */
const devices = {
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true },
  smallPhone: { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
} as const satisfies Record<string, BrowserContextOptions>;

export type Device = keyof typeof devices;

export type VisitOptions = BrowserContextOptions & {
  device?: Device;
  /** Console messages that a test provokes. */
  expected?: RegExp;
};

/** The browser session of one visitor, without other visitors' history. */
export type Visit = {
  page: Page;
  context: BrowserContext;
  /** Everything that a page must not do: errors, warnings, violations of its own policy, requests to another host. */
  complaints: string[];
};

export type TestBrowser = {
  visit(options?: VisitOptions): Promise<Visit>;
  /**
   * The page of a visitor who only reads. It is kept for the next call with the same options, because a new visit takes longer to open than
   * a page.
   * @param who if the site knows its visitors.
   */
  look(options?: VisitOptions, who?: string): Promise<Page>;
  /** Closes every visit except those kept for look(). @throws Error listing what pages complained about since the last call. */
  leaveAll(): Promise<void>;
  close(): Promise<void>;
};

/** One real browser; visits are isolated from each other. @param options.forReading with fonts for every language. */
export async function openBrowser({ forReading = false }: { forReading?: boolean } = {}): Promise<TestBrowser> {
  const found = await findChromium({ toolsDirectory: stackDirectory().tools, forReading });
  const browser = await chromium.launch({
    executablePath: found.program,
    env: { ...ownEnvironment(), ...found.env },
    chromiumSandbox: found.canSandbox,
    // Names don't resolve, so a page can reach only this machine, whatever it contains.
    args: [
      '--disable-background-networking',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
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
  // An endless animation is drawn sixty times a second, here by the processor, as long as its page is open.
  const still = { reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ locale: 'en-US', ...still, ...devices[device], ...options });
  context.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  const complain = (text: string) => {
    if (expected?.test(text) !== true) complaints.push(text);
  };
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && !ownHosts.includes(hostname)) complaints.push(`a request to ${request.url()}`);
  });
  // Violations of the content security policy are reported here too.
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

/** Passkeys need the name. */
const ownHosts = ['127.0.0.1', 'localhost'];

/** Our environment without undefined values. */
function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
