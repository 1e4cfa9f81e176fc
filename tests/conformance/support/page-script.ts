import { setImmediate as turn } from 'node:timers/promises';
import { createContext, runInContext } from 'node:vm';

type Asked = {
  path: string;
  answer: (status: number, body?: object, headers?: Record<string, string>) => Promise<void>;
  fail: () => Promise<void>;
};

/** The few things of a browser that the checkout page's script uses, with a clock that tests move. */
type FakePage = {
  /** Milliseconds on the page's clock. */
  now: () => number;
  /** The requests made so far, newest last. */
  asked: Asked[];
  reloads: () => number;
  /** Lets time go by, running what falls due on the way. */
  pass: (milliseconds: number) => Promise<void>;
  /** Milliseconds until the next timer, or null when there is none. */
  nextTimer: () => number | null;
  hide: (hidden: boolean) => Promise<void>;
  goOnline: () => Promise<void>;
};

/** Runs the script of a page as a browser would. @param status of the payment, as the page was served. */
export function runOnPage(script: string, { status, token }: { status: string; token: string }): FakePage {
  let now = 0;
  let timerIds = 0;
  let reloads = 0;
  const timers = new Map<number, { at: number; run: () => unknown }>();
  const listeners = new Map<string, () => unknown>();
  const asked: Asked[] = [];
  const settled = async () => {
    // A handful of turns lets every promise that is already decided be acted on.
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };

  function fetch(path: string): Promise<object> {
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    asked.push({
      path,
      answer: (code, body = {}, headers = {}) => {
        const found = { get: (name: string) => headers[name.toLowerCase()] ?? null };
        resolve({ status: code, ok: code >= 200 && code < 300, headers: found, json: () => Promise.resolve(body) });
        return settled();
      },
      fail: () => {
        reject(new TypeError('Failed to fetch'));
        return settled();
      },
    });
    return promise;
  }

  const root = { dataset: { status } };
  const document = {
    hidden: false,
    querySelector: (selector: string) => (selector === '[data-status]' ? root : null),
    addEventListener: (event: string, run: () => unknown) => listeners.set(event, run),
  };
  const setTimeout = (run: () => unknown, milliseconds: number) => {
    timers.set((timerIds += 1), { at: now + milliseconds, run });
    return timerIds;
  };
  const context = createContext({
    ...{ document, fetch, setTimeout, clearTimeout: (id: number) => timers.delete(id) },
    location: { pathname: `/pay/${token}`, reload: () => (reloads += 1) },
    addEventListener: document.addEventListener,
    AbortSignal: { timeout: () => undefined },
  });
  runInContext(script, context);

  const next = () => [...timers.entries()].toSorted(([, one], [, other]) => one.at - other.at)[0];
  const emit = (event: string) => {
    listeners.get(event)?.();
    return settled();
  };
  return {
    now: () => now,
    asked,
    reloads: () => reloads,
    pass: async (milliseconds) => {
      const end = now + milliseconds;
      for (let due = next(); due !== undefined && due[1].at <= end; due = next()) {
        now = due[1].at;
        timers.delete(due[0]);
        due[1].run();
        await settled();
      }
      now = end;
    },
    nextTimer: () => {
      const due = next();
      return due === undefined ? null : due[1].at - now;
    },
    hide: (hidden) => {
      document.hidden = hidden;
      return emit('visibilitychange');
    },
    goOnline: () => emit('online'),
  };
}
