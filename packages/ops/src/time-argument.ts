import { InvalidArgumentError } from 'commander';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

const DAY_MS = 86_400_000;

/** A time in UTC, or a day for its start or its end. @returns RFC 3339. */
export const timeArgument =
  (ofDay: 'start' | 'end') =>
  (text: string): string => {
    const day = parseRfc3339(`${text}T00:00:00Z`);
    if (day !== null) return rfc3339(ofDay === 'start' ? day : new Date(day.getTime() + DAY_MS));
    const time = parseRfc3339(text.replace(' ', 'T'));
    if (time !== null) return rfc3339(time);
    throw new InvalidArgumentError('expected a day or a time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  };
