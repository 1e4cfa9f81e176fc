/**
 * Runs in the page before its own script. It records each request with the page's clock, and passes its answer on with the body already
 * read, so that a test can tell when the script has done everything that follows from it.
 */
(() => {
  const ask = window.fetch.bind(window);
  const recorder = { asked: [], open: 0, mostStatusesOpen: 0, hidden: false };
  let statusesOpen = 0;

  // The test's clock does not include the time of the page load, from which the countdown counts.
  const loadedAt = performance.now();
  performance.getEntriesByType = (type) => (type === 'navigation' ? [{ requestStart: loadedAt }] : []);

  window.fetch = async (path, options) => {
    const isStatus = String(path).startsWith('/api/');
    recorder.asked.push({ path: String(path), at: performance.now() });
    recorder.open += 1;
    if (isStatus) recorder.mostStatusesOpen = Math.max(recorder.mostStatusesOpen, (statusesOpen += 1));
    try {
      const response = await ask(path, options);
      const body = await response.text();
      return Object.assign(response, { text: async () => body, json: async () => JSON.parse(body) });
    } finally {
      recorder.open -= 1;
      if (isStatus) statusesOpen -= 1;
    }
  };

  const turn = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });

  /** Resolves with the time when no request is open and everything that follows from the last answer is done. */
  recorder.settled = async () => {
    for (let quietTurns = 0; quietTurns < 10; quietTurns += 1) {
      await turn();
      if (recorder.open > 0) quietTurns = 0;
    }
    return performance.now();
  };

  /** What a browser does when the user switches to another tab, or back. */
  recorder.hide = (hidden) => {
    recorder.hidden = hidden;
    document.dispatchEvent(new Event('visibilitychange'));
  };
  Object.defineProperty(document, 'hidden', { get: () => recorder.hidden });
  Object.defineProperty(document, 'visibilityState', { get: () => (recorder.hidden ? 'hidden' : 'visible') });

  window.recorder = recorder;
})();
