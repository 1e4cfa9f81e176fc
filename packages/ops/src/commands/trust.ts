import { Option, type Command } from 'commander';
import { OPS, type Caller } from '@quittance/contracts/caller.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { newSigningKey, trustedKeysOf } from '@quittance/runtime/trust.ts';
import { reads, type JsonOption } from '../command.ts';
import { printResult } from '../output.ts';
import { lines, sections } from '../text.ts';

const callers: readonly Caller[] = [...serviceNames, OPS];

type NewKeys = { signing_keys: { [name in Caller]?: string }; trusted_keys: string };

/** The keys by which processes know each other. */
export function trustCommands(program: Command): void {
  const trust = program.command('trust').description('the keys by which processes know each other');
  reads(trust.command('keys'))
    .description('make new signing keys: SIGNING_KEY for each process, TRUSTED_KEYS for all of them; nothing is kept')
    .addOption(new Option('--of <process>', 'of this process only, to replace its key').choices(callers))
    .action(({ of, ...options }: JsonOption & { of?: Caller }) => {
      const keys = Object.fromEntries((of === undefined ? callers : [of]).map((name) => [name, newSigningKey()]));
      const made: NewKeys = { signing_keys: keys, trusted_keys: trustedKeysOf(keys) };
      printResult(made, options, keysView);
    });
}

const keysView = ({ signing_keys: keys, trusted_keys: trusted }: NewKeys): string =>
  sections([
    ['SIGNING_KEY, for each process its own', lines(Object.entries(keys))],
    ['TRUSTED_KEYS, the same for all', trusted],
  ]);
