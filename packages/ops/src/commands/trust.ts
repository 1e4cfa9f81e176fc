import { Option, type Command } from 'commander';
import { OPS, type Caller } from '@quittance/contracts/caller.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { countUnsignedDeadLetters } from '@quittance/messaging/dead-letter/dead-letter.ts';
import { newSigningKey, trustedKeysOf } from '@quittance/runtime/trust.ts';
import { reads, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { lines, sections, table } from '../text.ts';
import { readTrustReport, type TrustReport } from '../trust.ts';
import { withBroker } from '../with-broker.ts';

const callers: readonly Caller[] = [...serviceNames, OPS];

type NewKeys = { signing_keys: { [name in Caller]?: string }; trusted_keys: string };

/** The keys by which processes know each other, and the way to them from what all services shared. */
export function trustCommands(program: Command, { api, config }: Ops): void {
  const trust = program.command('trust').description('the keys by which processes know each other');
  reads(trust.command('keys'))
    .description('make new signing keys: SIGNING_KEY for each process, TRUSTED_KEYS for all of them; nothing is kept')
    .addOption(new Option('--of <process>', 'of this process only, to replace its key').choices(callers))
    .action(({ of, ...options }: JsonOption & { of?: Caller }) => {
      const keys = Object.fromEntries((of === undefined ? callers : [of]).map((name) => [name, newSigningKey()]));
      const made: NewKeys = { signing_keys: keys, trusted_keys: trustedKeysOf(keys) };
      printResult(made, options, keysView);
    });
  reads(trust.command('check'))
    .alias('enforce')
    .description(
      'whether INTERNAL_TOKEN can be removed: exit code 0 when nothing needs it any more. It switches nothing: the setting is ' +
        'the switch, and without it services refuse what nobody signed',
    )
    .action(async (options: JsonOption) => {
      const isKeyless = config.operatorCredential === '' && config.signingKey === '';
      const unsigned = await withBroker(config, countUnsignedDeadLetters);
      const { report, silent } = await readTrustReport(api, isKeyless, unsigned);
      printResult(report, options, reportView);
      if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
      if (!report.is_safe) throw new Failure('refused', 'INTERNAL_TOKEN is still needed. See docs/operator.md.');
    });
}

const keysView = ({ signing_keys: keys, trusted_keys: trusted }: NewKeys): string =>
  sections([
    ['SIGNING_KEY, for each process its own', lines(Object.entries(keys))],
    [
      Object.keys(keys).length === 1 ? 'TRUSTED_KEYS, added to those of all' : 'TRUSTED_KEYS, the same for all',
      trusted,
    ],
  ]);

function reportView({ is_safe: isSafe, services, obstacles }: TrustReport): string {
  const accepts = services.some((one) => one.accepts_internal_token);
  const advice = accepts
    ? 'Remove INTERNAL_TOKEN and INTERNAL_TOKEN_PREVIOUS from every process, and restart them in any order.'
    : 'No service has INTERNAL_TOKEN: there is nothing to remove.';
  const rows = table(services, {
    service: 'service',
    'own key': ({ has_key: hasKey }) => (hasKey ? 'yes' : 'no'),
    'accepts INTERNAL_TOKEN': ({ accepts_internal_token: accepting }) => (accepting ? 'yes' : 'no'),
    'needed it last': ({ legacy }) =>
      legacy
        .map(({ last_at: at }) => at)
        .toSorted()
        .at(-1),
  });
  return sections([['services', rows], isSafe ? ['safe', advice] : ['still needed', obstacles.join('\n')]]);
}
