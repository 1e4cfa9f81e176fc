/**
 * Keeps the checkout page's status current. Reads only the public status, sends nothing but the public token
 * that is already in the address bar, and stops once the payment is over.
 * The page is complete without it: then it reloads itself.
 */
(() => {
  const POLL_MIN_MS = 3_800;
  const POLL_MAX_MS = 4_000;
  const BACKOFF_MAX_MS = 30_000;
  const REQUEST_TIMEOUT_MS = 10_000;

  const root = document.querySelector('[data-status]');
  if (root === null) return;
  const token = location.pathname.split('/').at(-1);
  let failures = 0;
  let timer = 0;
  let checking = false;

  const isUnfinished = () => root.dataset.status === 'PENDING' || root.dataset.status === 'CHECKING';

  function schedule(milliseconds) {
    clearTimeout(timer);
    if (isUnfinished()) timer = setTimeout(check, milliseconds);
  }

  /** Only one request at a time, and none while nobody looks. */
  async function check() {
    if (checking || document.hidden || !isUnfinished()) return;
    checking = true;
    try {
      schedule(await ask());
    } catch {
      failures += 1;
      schedule(Math.min(POLL_MAX_MS * 2 ** failures, BACKOFF_MAX_MS));
    } finally {
      checking = false;
    }
  }

  /** @returns milliseconds until the next question. @throws when there was no usable answer. */
  async function ask() {
    const response = await fetch(`/api/v1/payments/${token}`, {
      cache: 'no-store',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after'));
      return seconds > 0 ? seconds * 1_000 : BACKOFF_MAX_MS;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    const { status } = await response.json();
    failures = 0;
    // The server writes the page for each status; asking for it again keeps one place that knows the words.
    if (status !== root.dataset.status) location.reload();
    return POLL_MIN_MS + Math.random() * (POLL_MAX_MS - POLL_MIN_MS);
  }

  document.addEventListener('visibilitychange', () => void check());
  addEventListener('online', () => void check());
  schedule(POLL_MIN_MS);
})();
