import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Page, Route } from 'playwright-core';
import type { TestBrowser, Visit, VisitOptions } from './browser.ts';

/** One question of the page's script. `at` is on the page's clock, in milliseconds. */
type Asked = { path: string; at: number };

/** A checkout page whose clock the test moves, and which the test answers when it asks for the status. */
export type WatchedPage = Visit & {
  /** What is asked for the status from now on; `server` lets the question through. */
  answers: StatusAnswer;
  /** Questions so far for the public status, oldest first. */
  asked(): Promise<Asked[]>;
  /** Questions so far for the page itself. */
  pagesAsked(): Promise<Asked[]>;
  /** The most questions for the status that were ever open at once. */
  mostOpen(): Promise<number>;
  now(): Promise<number>;
  /** Lets time go by, running what falls due, and waits until what was asked meanwhile is answered and acted upon. */
  pass(milliseconds: number): Promise<void>;
  /** Lets seconds go by one after the other, so that answers come within one, as they mostly do. */
  live(seconds: number): Promise<void>;
  /** Lets time go by up to that time, if it has not come yet. */
  passUntil(time: number): Promise<void>;
  hide(isHidden: boolean): Promise<void>;
  /** Takes the network away or brings it back, and waits until the page has been told. */
  connect(isConnected: boolean): Promise<void>;
  settled(): Promise<void>;
};

export type StatusAnswer =
  | 'server'
  | 'network failure'
  | { status: number; body?: object | string; headers?: Record<string, string> }
  /** Answered when this resolves. */
  | Promise<{ status: number; body?: object | string }>;

const recorderFile = fileURLToPath(new URL('in-page/recorder.js', import.meta.url));

/** Provoked on purpose: a browser writes every failed question on its console. */
const failedQuestions = /^console: Failed to load resource: (the server responded with a status of|net::ERR_)/;

/** @param options.deviceTime what the device believes the time to be; the right one unless given. */
export async function watchPage(
  browser: TestBrowser,
  url: string,
  { deviceTime = Date.now(), ...options }: VisitOptions & { deviceTime?: number } = {},
): Promise<WatchedPage> {
  const visit = await browser.visit({ expected: failedQuestions, ...options });
  const { page } = visit;
  // The clock goes until it is paused, and cannot be paused in the past: a minute covers the slowest machine.
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
