import { advice, fault, list, ok, unseen, withoutEffects, type Check, type Stage, type Verdict } from '../check.ts';
import { newEventId, notice, paidEvent, testEvent, unmatchedTransfer } from '../events.ts';
import { isTaken, told } from '../send.ts';

/** Delivers an event of each kind except PAID, one after the other, each about a different payment. */
async function deliverKinds(stage: Stage) {
  const kinds = [
    ['payment.checking', 'CHECKING'],
    ['payment.expired', 'EXPIRED'],
    ['payment.cancelled', 'CANCELLED'],
    ['payment.refunded', 'REFUNDED'],
  ].map(([type = '', status = '']) => {
    const payment = stage.nextPayment();
    return {
      what: status === 'REFUNDED' ? 'a new kind' : status,
      payment,
      event: notice(payment, type, status),
    };
  });
  const all = [
    ...kinds,
    { what: 'UNMATCHED, without a payment', payment: null, event: unmatchedTransfer() },
    { what: 'TEST', payment: null, event: testEvent() },
  ];
  const answered = [];
  for (const one of all) answered.push({ ...one, answer: await stage.deliver(one.event) });
  return answered;
}

export const otherKinds: Check = {
  id: 'other_kinds',
  title: 'Events of other kinds, also unknown ones, must be answered with 2xx',
  why: 'A refused event is sent again for three days; after fifty failures in a row the others of these kinds wait as well.',
  todo: 'Answer 2xx to every genuine event, and continue only if its status is PAID. payment_id can be null.',
  play: async (stage) => {
    const refused = (await deliverKinds(stage)).filter(({ answer }) => !isTaken(answer));
    return () => (refused.length === 0 ? ok : fault(list(refused)));
  },
};

export const otherEffects: Check = {
  id: 'other_effects',
  title: 'Events of other kinds must have no effect',
  why: 'Only PAID means that the money has arrived: CHECKING can be taken back, and later kinds mean something else.',
  todo: 'Fulfil an order only for "status":"PAID", not for every status that you don’t know.',
  play: async (stage) => {
    const sent = await deliverKinds(stage);
    return (effects): Verdict => {
      if (effects === null) return unseen(withoutEffects);
      const acted = sent.filter(({ payment }) => payment !== null && effects.of(payment) > 0).map(({ what }) => what);
      if (effects.ofNobody > 0) acted.push('one without a payment');
      return acted.length === 0 ? ok : fault(`acted on ${acted.join(', ')}`);
    };
  },
};

export const order: Check = {
  id: 'order',
  title: 'PAID must count, whatever comes before or after it',
  why: 'Events come in no particular order, and PAID can follow EXPIRED, when a transfer in time is found late: the customer has paid.',
  todo: 'Let PAID also fulfil an order that you have given up, and let no later event undo it.',
  after: ['other_kinds', 'other_effects'],
  play: async (stage) => {
    const [late, early] = [stage.nextPayment(), stage.nextPayment()];
    await stage.deliver(notice(late, 'payment.expired', 'EXPIRED'));
    const answer = await stage.pay(late);
    await stage.pay(early);
    await stage.deliver(notice(early, 'payment.checking', 'CHECKING'));
    await stage.deliver(notice(early, 'payment.expired', 'EXPIRED'));
    return (effects): Verdict => {
      if (!isTaken(answer)) return fault(`PAID after EXPIRED: ${told(answer)}`);
      if (effects === null) return unseen(withoutEffects);
      if (effects.of(late) !== 1) return fault(`PAID after EXPIRED; effects: ${effects.of(late)}`);
      return effects.of(early) === 1 ? ok : fault(`CHECKING and EXPIRED after PAID; effects: ${effects.of(early)}`);
    };
  },
};

export const amount: Check = {
  id: 'amount',
  title: 'A PAID event with an amount that differs from the order must have no effect',
  why: 'The signature says who sent the event, not that it is about this price: a payment that was created for less pays less.',
  todo: 'Compare expected_amount with the price of the order, or with the amount of the payment that you created for it.',
  play: async (stage) => {
    const payment = stage.nextPayment();
    if (stage.knowsPayments) await stage.deliver({ ...paidEvent(payment), expected_amount: '0.01' });
    return (effects): Verdict => {
      if (!stage.knowsPayments)
        return unseen('the receiver knows no price of invented payments; --payments names known ones');
      if (effects === null) return unseen(withoutEffects);
      return effects.of(payment) === 0
        ? ok
        : fault(`0.01 instead of ${payment.expected_amount}; effects: ${effects.of(payment)}`);
    };
  },
};

export const oneOrder: Check = {
  id: 'one_order',
  title: 'A second PAID event with another id should not fulfil an order twice',
  why: 'A payment has one PAID event, but an order can be paid twice, by a customer with two checkouts open.',
  todo: 'In addition to event_id, mark the order itself as fulfilled, in the same transaction.',
  after: ['repeated', 'copies'],
  play: async (stage) => {
    const payment = stage.nextPayment();
    await stage.pay(payment);
    await stage.deliver({ ...paidEvent(payment), event_id: newEventId() });
    return (effects): Verdict => {
      if (effects === null) return unseen(withoutEffects);
      return effects.of(payment) === 1 ? ok : advice(`two events; effects: ${effects.of(payment)}`);
    };
  },
};

export const rotation: Check = {
  id: 'rotation',
  title: 'Both keys must be accepted while the signing key is being rotated',
  why: 'Requests may be in progress when you rotate, and the next attempt is signed with the new key: without both, events fail, or count twice.',
  todo: 'Keep the old key together with the new one for five minutes, and choose by X-Service-Key-ID.',
  after: ['repeated'],
  play: async (stage) => {
    const [present, older] = stage.keys;
    if (older === undefined) return () => unseen('there is only one key; a second --key adds the previous one');
    const payment = stage.nextPayment();
    const event = paidEvent(payment);
    const [before, after] = [
      await stage.pay(payment, event, { key: older }),
      await stage.pay(payment, event, { key: present }),
    ];
    return (effects): Verdict => {
      if (!isTaken(before)) return fault(`signed with the previous key: ${told(before)}`);
      if (!isTaken(after)) return fault(`the same event, signed with the current key: ${told(after)}`);
      const count = effects?.of(payment) ?? 1;
      return count === 1 ? ok : fault(`one event, with the previous and then the current key; effects: ${count}`);
    };
  },
};
