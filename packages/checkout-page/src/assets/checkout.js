/**
 * Keeps the checkout page current, counts its time down and copies for its reader. Asks only for the public status and for the page
 * itself, sends nothing but the public token that is already in the address bar, and stops once the payment is over.
 * The page is complete without it: then it reloads itself. The server knows all the words; a page whose state has changed is asked
 * for again, and its main part takes the place of the old one.
 */
(() => {
  const POLL_MIN_MS = 3800;
  const POLL_MAX_MS = 4000;
  /** Not even coming back asks sooner than this after the last question: connections may come and go many times a second. */
  const POLL_PAUSE_MS = 1000;
  const WAIT_MAX_MS = 30000;
  const RETRY_AFTER_MAX_MS = 300000;
  const REQUEST_TIMEOUT_MS = 10000;
  /** After so many failures in a row the reader is told. */
  const FAILURES_TOLD = 2;
  /** Seconds left at which screen readers say so. */
  const ANNOUNCED_SECONDS = [300, 60];
  const COPIED_MS = 2000;
  /** The status says nothing about money that may be the reader's: while it stays the same, the page itself is asked for this often. */
  const PAGE_MAX_AGE_MS = 20000;
  const OPEN_STATUSES = ['PENDING', 'CHECKING'];

  const texts = document.body.dataset;
  const token = location.pathname.split('/').pop();
  let main = document.querySelector('main[data-state]');
  /** When the page on display was asked for, on both clocks. The countdown is the server's; the device's date may be anything. */
  let asked = { ticks: performance.getEntriesByType('navigation')[0]?.requestStart ?? 0, date: 0 };
  asked.date = Date.now() - (performance.now() - asked.ticks);
  let pageAskedAt = asked.ticks;
  let failures = 0;
  let isBusy = false;
  let pollTimer = 0;
  let tickTimer = 0;
  /** Until then nothing is asked, whatever happens, because we were told to. */
  let quietUntil = 0;
  let lastPoll = -Infinity;
  let secondsShown = Infinity;

  const isOpen = () => main.dataset.state === 'unavailable' || OPEN_STATUSES.includes(main.dataset.status);
  /** Whether a time is counted down, within which one may pay. */
  const isCounting = (shown = main) => shown.querySelector('.countdown') !== null;

  // ---- Asking

  function pollIn(milliseconds) {
    clearTimeout(pollTimer);
    if (isOpen()) pollTimer = setTimeout(poll, milliseconds);
  }

  /** One question at a time, and none while nobody looks: being looked at again asks at once. */
  async function poll() {
    if (isBusy || document.hidden || !isOpen()) return;
    const now = performance.now();
    const earliest = Math.max(quietUntil, lastPoll + POLL_PAUSE_MS);
    if (now < earliest) return pollIn(earliest - now);
    lastPoll = now;
    isBusy = true;
    let wait;
    try {
      await ask();
      failures = 0;
      // From question to question, however long the answer took.
      wait = Math.max(
        POLL_MIN_MS + Math.random() * (POLL_MAX_MS - POLL_MIN_MS) - (performance.now() - now),
        POLL_PAUSE_MS,
      );
    } catch {
      // Being told to ask less is no failure, and says how long to wait.
      const isFailure = performance.now() >= quietUntil;
      if (isFailure) failures += 1;
      wait = isFailure ? Math.min(POLL_MAX_MS * 2 ** failures, WAIT_MAX_MS) : 0;
      endAlone();
    }
    isBusy = false;
    note(texts.offline, failures >= FAILURES_TOLD || (failures > 0 && !navigator.onLine));
    pollIn(Math.max(wait, quietUntil - performance.now()));
  }

  async function ask() {
    const { state, status } = main.dataset;
    if (state !== 'unavailable') {
      const answer = await request(`/api/v1/payments/${token}`);
      if (answer.status >= 500) throw new Error(`status ${answer.status}`);
      // What refuses to say the status, or knows no such payment, is for the page itself to tell.
      const current = answer.status === 200 ? JSON.parse(answer.text).status : null;
      if (current === status && current !== 'CHECKING' && !isTimeOver() && !hasLostTime()) return lookForNews();
    }
    await showCurrent();
  }

  /** What is shown stays as it is, the countdown too, unless there is news. */
  async function lookForNews() {
    if (performance.now() - pageAskedAt > PAGE_MAX_AGE_MS) await showCurrent(hasNews);
  }

  /** Money that arrived, and warnings. A page that was made without asking for them says nothing, and takes away none. */
  const hasNews = ({ dataset: { news } }) => news !== undefined && news !== (main.dataset.news ?? '');

  /** @throws when there is no whole answer in time, or when we are told to ask less. */
  async function request(path) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(path, { cache: 'no-store', signal: controller.signal });
      if (response.status !== 429) return { status: response.status, text: await response.text() };
      // An edge that counts by address says no time, and answers with a page.
      const seconds = Number(response.headers.get('retry-after'));
      const wait = seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MAX_MS) : WAIT_MAX_MS;
      quietUntil = performance.now() + Math.max(wait, POLL_MIN_MS);
      throw new Error('too many questions');
    } finally {
      clearTimeout(timer);
    }
  }

  // ---- Showing

  /** Asks for the page as it is now and shows what has changed. */
  async function showCurrent(isWanted = () => true) {
    const [ticks, date] = [performance.now(), Date.now()];
    pageAskedAt = ticks;
    const query = new URLSearchParams(location.search);
    // Looking a transaction up is for who asks for it, and counted.
    query.delete('transaction_id');
    const { status, text } = await request(`${location.pathname}?${query}`);
    const page = new DOMParser().parseFromString(text, 'text/html');
    const next = page.querySelector('main[data-state]');
    // What stands between us and the server has pages of its own.
    if (next === null || status >= 500) throw new Error(`no page, status ${status}`);
    // Another question may have been answered meanwhile.
    if (ticks < asked.ticks || !isWanted(next)) return;
    asked = { ticks, date };
    // No question may follow this one that would take it away.
    note(texts.offline, false);
    if (next.dataset.state === main.dataset.state && isCounting(next) === isCounting() && !hasNews(next)) update(next);
    else replace(next, page.title);
    tick();
  }

  /** The same state, so that what somebody reads or selects stays in place: only what goes on within it is renewed. */
  function update(next) {
    Object.assign(main.dataset, next.dataset);
    tellFrame();
    const renewed = next.querySelectorAll('[data-live]');
    main.querySelectorAll('[data-live]').forEach((element, position) => {
      const other = renewed[position];
      if (other !== undefined && other.innerHTML !== element.innerHTML) element.replaceWith(other);
    });
  }

  function replace(next, title) {
    const hadFocus = main.contains(document.activeElement);
    next.classList.add('renewed');
    main.replaceWith(next);
    main = next;
    document.title = title;
    secondsShown = Infinity;
    note(texts.copyFailed, false);
    prepare();
    scrollTo(0, 0);
    if (hadFocus) main.querySelector('h1').focus();
    const told = [...main.querySelectorAll('.lead, .contact, .notice')].map(({ textContent }) => textContent);
    announce(`${main.querySelector('h1').textContent}. ${told.join(' ')}`);
  }

  /**
   * Once the time is over and the server cannot be asked, the page shows what the server wrote for that moment, so that it invites
   * nobody to pay too late. After a sleep the date tells that; when it told wrong, the next answer brings the waiting page back.
   */
  function endAlone() {
    if (!isCounting() || millisecondsLeft(Date.now() - asked.date) > 0) return;
    const template = main.querySelector('template');
    // The page of another release may have none.
    if (template === null) return;
    replace(document.importNode(template.content, true).querySelector('main'), template.dataset.title);
  }

  /** Makes of what the server wrote what only a script can. */
  function prepare() {
    for (const button of main.querySelectorAll('[data-copy]')) {
      button.hidden = false;
      const label = button.textContent;
      button.addEventListener('click', () => void copy(button, label));
    }
    for (const notice of main.querySelectorAll('.reload')) notice.hidden = true;
    for (const time of main.querySelectorAll('time[datetime]')) time.textContent = localTime(new Date(time.dateTime));
    keepReceipt();
    // The shop's page is not for the frame.
    if (isFramed) for (const link of main.querySelectorAll('.back')) link.target = '_top';
    tellFrame();
    document.dispatchEvent(new Event('shown'));
  }

  function localTime(moment) {
    const isToday = moment.toDateString() === new Date().toDateString();
    const style = isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' };
    return new Intl.DateTimeFormat(main.dataset.locale, style).format(moment);
  }

  /** Something that is so, for as long as it is so. */
  function note(text, isSo) {
    const element = document.querySelector('.note');
    // What is over takes away its own words only.
    if ((element.textContent === text) !== isSo) element.textContent = isSo ? text : '';
  }

  /** Something that has happened, for those who cannot see it. Said again it is heard again. */
  function announce(text) {
    const element = document.querySelector('.announcement');
    element.textContent = '';
    setTimeout(() => (element.textContent = text), 100);
  }

  // ---- The receipt

  const seenKey = `quittance.seen.${token}`;

  /** In a tab that saw the payment wait, a paid page has the time at which it was first seen paid. Nothing leaves the tab. */
  function keepReceipt() {
    const receipt = main.querySelector('.receipt');
    if (receipt === null) return isOpen() && remember(seenKey, '');
    const seen = recall(seenKey);
    const time = receipt.querySelector('time');
    if (receipt.hidden && seen !== null) {
      time.dateTime = seen || new Date().toISOString();
      time.textContent = localTime(new Date(time.dateTime));
      remember(seenKey, time.dateTime);
      receipt.hidden = false;
    }
    const button = receipt.querySelector('.print');
    button.hidden = false;
    button.addEventListener('click', () => print());
  }

  /** A browser may keep nothing, and throw. */
  function recall(key) {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  }

  function remember(key, text) {
    try {
      if (text !== '' || sessionStorage.getItem(key) === null) sessionStorage.setItem(key, text);
    } catch {
      // Then there is no receipt.
    }
  }

  // ---- In a frame

  const isFramed = parent !== window;
  let statusTold = '';

  /** Tells the site that frames this page how the payment stands, if the merchant has named that site; no other site hears it. */
  function tellFrame() {
    const { status = '' } = main.dataset;
    if (!isFramed || status === '' || status === statusTold) return;
    statusTold = status;
    const named = (texts.embedOrigins ?? '').split(' ').filter((origin) => origin !== '');
    // Where the browser does not say who frames the page, it drops what is addressed to somebody else.
    const framing = location.ancestorOrigins?.[0];
    const origins = framing === undefined ? named : named.filter((origin) => origin === framing);
    for (const origin of origins) parent.postMessage({ status }, origin);
  }

  // ---- The countdown

  /** @param passed what has passed by another count since the page was asked for; where they differ, the longer one counts. */
  function millisecondsLeft(passed = 0) {
    const { expiresAt, serverTime } = main.dataset;
    return Date.parse(expiresAt) - Date.parse(serverTime) - Math.max(performance.now() - asked.ticks, passed);
  }

  const isTimeOver = () => isCounting() && millisecondsLeft() <= 0;

  /** The count of milliseconds may stand still while a device sleeps; then the date runs ahead of it, and the server is asked. */
  const hasLostTime = () => Math.abs(Date.now() - asked.date - (performance.now() - asked.ticks)) > 2000;

  function tick() {
    clearTimeout(tickTimer);
    if (!isCounting()) return;
    const left = Math.max(millisecondsLeft(), 0);
    showSeconds(Math.ceil(left / 1000));
    // At the end of the time the page is asked for at once. Should that fail, or not be allowed, the next question to come brings it.
    if (left === 0 && performance.now() < quietUntil) endAlone();
    else if (left === 0 && !document.hidden && performance.now() > asked.ticks + 1000) showCurrent().catch(endAlone);
    else {
      tickTimer = setTimeout(tick, left % 1000 || 1000);
    }
  }

  function showSeconds(seconds) {
    const formatted = formatSeconds(seconds);
    main.querySelector('.countdown').textContent = formatted;
    if (ANNOUNCED_SECONDS.some((mark) => seconds <= mark && mark < secondsShown && secondsShown !== Infinity)) {
      announce(`${texts.timeLeft} ${formatted}`);
    }
    secondsShown = seconds;
  }

  function formatSeconds(seconds) {
    const format = new Intl.NumberFormat(main.dataset.locale, { minimumIntegerDigits: 2 });
    const parts = [format.format(Math.floor(seconds / 60) % 60), format.format(seconds % 60)];
    const hours = Math.floor(seconds / 3600);
    return [...(hours > 0 ? [new Intl.NumberFormat(main.dataset.locale).format(hours)] : []), ...parts].join(':');
  }

  // ---- Copying

  async function copy(button, label) {
    const { copy: text } = button.dataset;
    const isCopied = (await copyByClipboard(text)) || copyBySelection(text);
    note(texts.copyFailed, !isCopied);
    if (!isCopied) return;
    announce(texts.copied);
    button.closest('dd').classList.add('was-copied');
    // Nothing beside it moves while it says so.
    button.style.minWidth = `${button.offsetWidth}px`;
    button.textContent = texts.copied;
    button.dataset.done = '';
    setTimeout(() => {
      button.textContent = label;
      delete button.dataset.done;
    }, COPIED_MS);
  }

  const copyByClipboard = (text) =>
    navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );

  /** Where there is no clipboard, as on pages without HTTPS, or its use was denied. */
  function copyBySelection(text) {
    const field = document.createElement('textarea');
    field.className = 'announcement';
    field.value = text;
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    focused?.focus();
    return isCopied;
  }

  document.addEventListener('visibilitychange', () => void poll());
  addEventListener('online', () => void poll());
  addEventListener('offline', () => isOpen() && note(texts.offline, true));
  addEventListener('pageshow', ({ persisted }) => void (persisted && poll()));
  prepare();
  tick();
  pollIn(POLL_MIN_MS);
})();
