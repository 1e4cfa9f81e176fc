import { Readable } from 'node:stream';

/**
 * Makes a body of unknown length from pieces. Each piece is made when the client has room for it. The first is made
 * immediately, so that an error until then gets an ordinary error answer.
 * @param pieces not started yet. Its `finally` runs when the body ends, breaks or is no longer needed.
 * @throws the error of the first piece.
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
