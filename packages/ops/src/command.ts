import { InvalidArgumentError, type Command } from 'commander';
import { parseAddress } from '@quittance/contracts/address.ts';
import { isId, type IdPrefix } from '@quittance/contracts/ids.ts';
import { isActorOfOperator } from '@quittance/contracts/operator.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Api } from './api.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';

/** What every command works with. */
export type Ops = { api: Api; config: Config };

export type JsonOption = { json?: boolean };
type AuthorOptions = { actor?: string; reason: string };
export type ChangeOptions = JsonOption & AuthorOptions & { yes?: boolean };
export type WaitOption = { wait: number };

/** A command that only reads. */
export const reads = (command: Command): Command => command.option('--json', 'print JSON instead of a table');

/** A command that changes something and records in the audit who did it and why. */
export const changes = (command: Command): Command =>
  reads(command)
    .option('--actor <name>', 'who does this, for the audit (default: who runs this)')
    .option('--reason <text>', 'why, for the audit', 'no reason given');

/** A change that other services must have applied before the command ends. */
export const waits = (command: Command): Command =>
  changes(command).option('--wait <seconds>', 'how long to wait until it has taken effect', count, 15);

/** Asks before it changes anything. */
export const asks = (command: Command): Command =>
  command.option('--yes', 'do not ask (required where there is no terminal, save with --json)');

/** The part of a body that goes into the audit. @throws Failure when the author is unknown. */
export function authorOf(
  { actor, reason }: AuthorOptions,
  { user, operatorCredential }: Config,
): { actor: string; reason: string } {
  const isSignedIn = operatorCredential !== '';
  if (isSignedIn && actor !== undefined)
    throw new Failure('wrongUse', 'With OPERATOR_CREDENTIAL the audit names the operator: leave --actor out.');
  // The services put the operator's name in its place.
  const name = isSignedIn ? user || 'operator' : (actor ?? user);
  if (name === '')
    throw new Failure(
      'wrongUse',
      'Say who you are with --actor: the audit names the author of every change, and this system does not know you.',
    );
  // The services refuse it too, but what is done to dead letters is written to RabbitMQ directly.
  if (isActorOfOperator(name))
    throw new Failure('wrongUse', 'An actor must not look like @name, which marks people who signed in.');
  return { actor: name, reason };
}

/** Catches ids given in the wrong place, before a service is asked. */
export const idArgument =
  (prefix: IdPrefix) =>
  (text: string): string => {
    if (isId(prefix, text)) return text;
    throw new InvalidArgumentError(`expected ${prefix}_ and 32 lowercase hexadecimal characters.`);
  };

/** @returns the canonical spelling, so that a service is asked for one address in one way. */
export const addressArgument = (text: string): string => {
  const parsed = parseAddress(text);
  if (parsed !== null) return parsed.address;
  throw new InvalidArgumentError(
    'expected 0x and 40 hexadecimal characters, in mixed case only with the right checksum, or T and 33 for Tron.',
  );
};

/** A time in UTC, as the tables and the JSON write it. @returns RFC 3339. */
export const momentArgument = (text: string): string => {
  const time = parseRfc3339(text.replace(' ', 'T'));
  if (time !== null) return rfc3339(time);
  throw new InvalidArgumentError('expected a time in UTC such as 2026-01-31T12:00:00.000Z.');
};

export const dayArgument = (text: string): string => {
  if (parseRfc3339(`${text}T00:00:00Z`) !== null) return text;
  throw new InvalidArgumentError('expected a day such as 2026-01-31.');
};

export const count = (text: string): number => {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number, 0 or more.');
};

/** A daily limit can also be taken away. It stays a word here, because commander turns a null into an empty text. */
export const countOrNone = (text: string): number | 'none' => (text === 'none' ? text : count(text));
