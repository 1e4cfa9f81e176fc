import { PassThrough } from 'node:stream';

/** A terminal at which somebody has typed already. */
export function terminal(typed: string, isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  stdin.write(typed);
  return { stdin, stderr };
}
