import { advice, ok, refusing, taking, type Check } from '../check.ts';
import { paidEvent, unixNow } from '../events.ts';

export const timestamp = refusing({
  id: 'timestamp',
  title: 'A request that is more than 300 seconds old, or ahead, must be refused',
  why: 'A signature stays valid forever: anyone who has seen a request, in a log or a proxy, could send it again at any time.',
  todo: 'Refuse timestamps more than 300 seconds from your clock in either direction, and check that your clock is right.',
  after: ['signature'],
  probes: (_stage, payment) => [
    { what: '310 s old', event: paidEvent(payment), differences: { timestamp: unixNow() - 310 } },
    // Far enough that this still holds when it arrives.
    { what: '600 s ahead', event: paidEvent(payment), differences: { timestamp: unixNow() + 600 } },
  ],
});

export const timestampForm = refusing({
  id: 'timestamp_form',
  title: 'A timestamp that is not 1 to 12 digits must be refused, even signed',
  why: 'Timestamp and body are signed as one text with a dot between them. If a timestamp may hold other characters, the dot can be moved within a signed text.',
  todo: 'Match the header with ^[0-9]{1,12}$ before converting it to a number.',
  after: ['signature', 'timestamp'],
  probes: (_stage, payment) => {
    const now = unixNow();
    const forms = [`${now}.0`, `+${now}`, `${now}e0`, `0x${now.toString(16)}`, String(now).padStart(13, '0')];
    return [
      ...forms.map((form) => ({ what: form, event: paidEvent(payment), differences: { timestamp: form } })),
      ...['', 'undefined'].map((form) => ({
        what: `none, signed as "${form}"`,
        event: paidEvent(payment),
        differences: { timestamp: form, headers: { 'X-Service-Timestamp': null } },
      })),
    ];
  },
});

export const tolerance = taking({
  id: 'tolerance',
  title: 'A request that is 240 seconds old, or ahead, must be accepted',
  why: 'Clocks differ. A receiver that is stricter than 300 seconds loses events on the day its clock drifts.',
  todo: 'Accept timestamps up to 300 seconds from your clock; check that your clock is right.',
  events: (nextPayment) =>
    [-240, 240].map((seconds) => {
      const payment = nextPayment();
      const what = seconds < 0 ? '240 s old' : '240 s ahead';
      return { what, payment, event: paidEvent(payment), differences: { timestamp: unixNow() + seconds } };
    }),
});

/** The share of the time limit: a receiver that is slower alone on a developer's machine has no reserve. */
const SLOW_SHARE = 1 / 3;

/** It runs last, when everything has been sent. */
export const speed: Check = {
  id: 'speed',
  title: 'Answers should come within a third of the time limit, also for many requests at once',
  why: 'An event that takes longer than the sender waits has failed and is sent again, in addition to the others.',
  todo: 'Save the event, answer, and do slow work afterwards.',
  play: async ({ slowestMs, timeoutMs }) => {
    const isSlow = slowestMs > timeoutMs * SLOW_SHARE;
    return () => (isSlow ? advice(`the slowest took ${slowestMs} ms, of ${timeoutMs} ms at most`) : ok);
  },
};
