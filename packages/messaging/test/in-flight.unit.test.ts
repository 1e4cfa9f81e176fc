import { expect, test } from '@jest/globals';
import { createInFlight } from '../src/outbox/sender.ts';

test('no more batches than allowed are in flight, and the next caller gets the error of a failed one', async () => {
  const inFlight = createInFlight(1);
  const { promise, reject } = Promise.withResolvers<undefined>();
  inFlight.start(() => promise);
  let hasRoom = false;
  const room = inFlight.room().then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  reject(new Error('the database is away'));
  await expect(room).rejects.toThrow('the database is away');
  await inFlight.room();
  await inFlight.ended();
});
