import { Readable } from 'node:stream';

/**
 * Makes a body of unknown length from pieces, each made when the client has room for it. The first one is made at once, so that what
 * fails by then is answered as any other error.
 * @param pieces not begun yet. Its `finally` runs when the body ends, breaks or is not wanted any more.
 * @throws what making the first piece throws.
 */
export async function startStream(pieces: AsyncGenerator<Buffer, void>): Promise<Readable> {
  const first = await pieces.next();
  let isFirst = true;
  return new Readable({
    highWaterMark: 1,
    read() {
      const next = isFirst ? Promise.resolve(first) : pieces.next();
      isFirst = false;
      next.then(
        ({ value, done }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, callback) {
      pieces.return().then(
        () => callback(error),
        (failure: unknown) => callback(error ?? (failure as Error)),
      );
    },
  });
}
