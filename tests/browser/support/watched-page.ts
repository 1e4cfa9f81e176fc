import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page, Route } from 'playwright-core';
import type { TestBrowser, Visit, VisitOptions } from './browser.ts';

/** One request of the page's script. `at` is the page's clock in milliseconds. */
type Asked = { path: string; at: number };

/** A checkout page whose clock the test moves, and whose status requests the test answers. */
export type WatchedPage = Visit & {
  /** How status requests are answered from now on; `server` forwards the request. */
  answers: StatusAnswer;
  /** The status requests so far, oldest first. */
  asked(): Promise<Asked[]>;
  /** The requests so far for the page itself. */
  pagesAsked(): Promise<Asked[]>;
  /** The largest number of status requests that were open at the same time. */
  mostOpen(): Promise<number>;
  now(): Promise<number>;
  /** Advances the clock, runs the due timers, and waits until all requests made are answered and processed. */
  pass(milliseconds: number): Promise<void>;
  /** Advances the clock second by second, so that answers arrive within a second, as they usually do. */
  live(seconds: number): Promise<void>;
  /** Advances the clock to this time, if it is not reached yet. */
  passUntil(time: number): Promise<void>;
  hide(isHidden: boolean): Promise<void>;
  /** Disconnects or connects the network, and waits until the page has noticed. */
  connect(isConnected: boolean): Promise<void>;
  settled(): Promise<void>;
};

export type StatusAnswer =
  | 'server'
  | 'network failure'
  | { status: number; body?: object | string; headers?: Record<string, string> }
  /** Answers when this resolves. */
  | Promise<{ status: number; body?: object | string }>;

const recorderFile = fileURLToPath(new URL('in-page/recorder.js', import.meta.url));

/** Provoked on purpose: a browser logs every failed request on its console. */
const failedQuestions = /^console: Failed to load resource: (the server responded with a status of|net::ERR_)/;

/** @param options.deviceTime the time on the device. Default: the correct one. */
export async function watchPage(
  browser: TestBrowser,
  url: string,
  { deviceTime = Date.now(), ...options }: VisitOptions & { deviceTime?: number } = {},
): Promise<WatchedPage> {
  const visit = await browser.visit({ expected: failedQuestions, ...options });
  const { page } = visit;
  // The clock runs until it is paused, and cannot be paused in the past. A minute is enough for the slowest machine.
  await page.clock.install({ time: deviceTime - 60_000 });
  await page.clock.pauseAt(deviceTime);
  await page.addInitScript({ path: recorderFile });
  const watched: WatchedPage = { ...visit, ...controlsOf(page), answers: 'server' };
  await page.route('**/api/v1/payments/*', (route) => answer(route, watched.answers));
  await page.goto(url);
  await watched.settled();
  return watched;
}

function controlsOf(page: Page): Omit<WatchedPage, keyof Visit | 'answers'> {
  const allAsked = () => page.evaluate<Asked[]>('recorder.asked');
  const now = () => page.evaluate<number>('performance.now()');
  let knownNow = 0;
  const settled = async () => {
    knownNow = await page.evaluate<number>('recorder.settled()');
  };
  const pass = async (milliseconds: number) => {
    await page.clock.runFor(milliseconds);
    await settled();
  };
  return {
    asked: async () => (await allAsked()).filter(({ path }) => path.startsWith('/api/')),
    pagesAsked: async () => (await allAsked()).filter(({ path }) => path.startsWith('/pay/')),
    mostOpen: () => page.evaluate<number>('recorder.mostStatusesOpen'),
    now,
    pass,
    live: async (seconds) => {
      for (let second = 0; second < seconds; second += 1) await pass(1_000);
    },
    passUntil: async (time) => {
      const left = Math.ceil(time - knownNow);
      if (left > 0) await pass(left);
    },
    hide: async (isHidden) => {
      await page.evaluate(`recorder.hide(${isHidden})`);
      await settled();
    },
    connect: async (isConnected) => {
      await page.context().setOffline(!isConnected);
      await eventually(async () => expect(await page.evaluate('navigator.onLine')).toBe(isConnected));
      await settled();
    },
    settled,
  };
}

async function answer(route: Route, answers: StatusAnswer): Promise<void> {
  if (answers === 'server') return route.fallback();
  if (answers === 'network failure') return route.abort('connectionfailed');
  const { status, body = {}, ...rest } = await answers;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  await route.fulfill({ status, body: text, ...rest });
}
