import { advice, fault, list, ok, refusing, type Check, type Verdict } from '../check.ts';
import { newEventId, paidEvent, unixNow } from '../events.ts';
import { isTaken, told } from '../send.ts';

export const eventId = refusing({
  id: 'event_id',
  title: 'An event whose id is not the one in the header must be refused',
  why: 'The header is not signed: with another id in it, a genuine request that someone has seen counts as a new event for a receiver that uses the header.',
  todo: 'After the signature, compare X-Service-Event-ID with event_id in the body, and answer 4xx if they differ.',
  after: ['signature'],
  probes: (_stage, payment) => [
    {
      what: 'another id',
      event: paidEvent(payment),
      differences: { headers: { 'X-Service-Event-ID': newEventId() } },
    },
    { what: 'no id', event: paidEvent(payment), differences: { headers: { 'X-Service-Event-ID': null } } },
  ],
});

export const doubledHeaders: Check = {
  id: 'doubled_headers',
  title: 'A header that occurs twice must not make a request genuine',
  why: 'If one part of a program reads the first of two headers and another part the last, an old request is given a fresh timestamp, or a known event a new id.',
  todo: 'Read each header once, into a variable; refuse a request in which one occurs twice.',
  after: ['signature', 'timestamp', 'event_id', 'repeated'],
  play: async (stage) => {
    const [oldPayment, payment] = [stage.nextPayment(), stage.nextPayment()];
    const [old, fresh] = [unixNow() - 400, unixNow()].map(String) as [string, string];
    const event = paidEvent(payment);
    await stage.pay(payment, event);
    const replays = await Promise.all(
      [
        [old, fresh],
        [fresh, old],
      ].map((both) =>
        stage.deliver(paidEvent(oldPayment), { timestamp: old, headers: { 'X-Service-Timestamp': both } }),
      ),
    );
    for (const ids of [
      [newEventId(), event.event_id],
      [event.event_id, newEventId()],
    ]) {
      await stage.deliver(event, { headers: { 'X-Service-Event-ID': ids } });
    }
    return (effects): Verdict => {
      const taken = replays.find(isTaken);
      if (taken !== undefined) return fault(`an old request with a second, fresh timestamp: ${told(taken)}`);
      const count = effects?.of(payment) ?? 1;
      return count === 1 ? ok : fault(`a repeated event with a second, new id; effects: ${count}`);
    };
  },
};

export const stranger = refusing({
  id: 'stranger',
  title: 'A request without our headers must be refused',
  why: 'Scanners find every public URL. Their requests must neither count nor break anything.',
  todo: 'Check the headers and the signature before the body is parsed.',
  after: ['signature'],
  probes: (_stage, payment) => {
    const none = Object.fromEntries(
      ['Timestamp', 'Signature', 'Event-ID', 'Key-ID'].map((name) => [`X-Service-${name}`, null]),
    );
    return ['', '{', 'null', '[]', 'a=1'].map((body) => ({
      what: body === '' ? 'an empty body' : `the body ${body}`,
      event: paidEvent(payment),
      differences: { body, headers: none },
    }));
  },
});

/** It comes after everything that is refused. */
export const refusals: Check = {
  id: 'refusals',
  title: 'Refused requests should be answered, as the sender’s fault',
  why: 'A 5xx, a broken connection or no answer means that your own program failed: it wakes people, fills logs, and anyone can cause it.',
  todo: 'Answer 4xx when a check fails, also if a header is missing or has a different length, or the body is not JSON.',
  play: async (stage) => {
    const failed = stage.refusals.filter(({ answer: { status } }) => status === null || status >= 500);
    const [first] = failed;
    return () =>
      first === undefined ? ok : advice(`${failed.length} of ${stage.refusals.length}; the first was ${list([first])}`);
  },
};

export const method: Check = {
  id: 'method',
  title: 'Methods other than POST should not be answered with 2xx',
  why: 'Events come only by POST. A page at the same path that answers 200 hides a wrong route, also from a monitor.',
  todo: 'Answer 405 to every other method at this path.',
  after: ['signature'],
  play: async (stage) => {
    const payment = stage.nextPayment();
    const answered: string[] = [];
    for (const name of ['GET', 'PUT', 'DELETE']) {
      const body = name === 'GET' ? { body: '' } : {};
      const answer = await stage.deliver(paidEvent(payment), { method: name, ...body });
      if (isTaken(answer)) answered.push(`${name}: ${told(answer)}`);
    }
    return (effects): Verdict => {
      const count = effects?.of(payment) ?? 0;
      if (count > 0) return fault(`${answered.join('; ')}; effects: ${count}`);
      return answered.length === 0 ? ok : advice(answered.join('; '));
    };
  },
};
