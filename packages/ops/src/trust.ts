import { ReadTrust, type LegacyUse, type TrustState } from '@quittance/contracts/http/trust.ts';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { countUnsignedDeadLetters } from '@quittance/messaging/dead-letter/dead-letter.ts';
import { callers, checkTrust, makeKeys } from '@quittance/operator/machinery.ts';
import { facts, shortTime, table, text, type View } from '@quittance/operator/view.ts';
import { newSigningKey, trustedKeysOf } from '@quittance/runtime/trust.ts';
import { whatAnswers, type Api } from './api.ts';
import { withBroker } from './dead-letters.ts';
import { Failure } from './failure.ts';
import { own, type Run } from './run.ts';
import { printResult } from './text.ts';

/** The keys by which processes know each other, and the way to them from what all services shared. */
export const trustRuns: readonly Run[] = [
  own(makeKeys, ({ values: { of }, options }) => {
    const keys = Object.fromEntries((of === undefined ? callers : [of]).map((name) => [name, newSigningKey()]));
    printResult({ signing_keys: keys, trusted_keys: trustedKeysOf(keys) }, options, keysView);
  }),
  own(checkTrust, async ({ api, config, options }) => {
    const isKeyless = config.operatorCredential === '' && config.signingKey === '';
    const unsigned = await withBroker(config, countUnsignedDeadLetters);
    const { report, silent } = await readTrustReport(api, isKeyless, unsigned);
    printResult(report, options, reportView);
    if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
    if (!report.is_safe)
      throw new Failure('refused', 'INTERNAL_TOKEN is still needed. See docs/operator-tasks.md, "Keys".');
  }),
];

const keysView = ({
  signing_keys: keys,
  trusted_keys: trusted,
}: {
  signing_keys: Record<string, string>;
  trusted_keys: string;
}): View => [
  facts(keys, 'SIGNING_KEY, for each process its own'),
  text(
    trusted,
    Object.keys(keys).length === 1 ? 'TRUSTED_KEYS, added to those of all' : 'TRUSTED_KEYS, the same for all',
  ),
];

function reportView({ is_safe: isSafe, services, obstacles }: TrustReport): View {
  const accepts = services.some((one) => one.accepts_internal_token);
  const advice = accepts
    ? 'Remove INTERNAL_TOKEN and INTERNAL_TOKEN_PREVIOUS from every process, and restart them in any order.'
    : 'No service has INTERNAL_TOKEN: there is nothing to remove.';
  return [
    table('services', services, {
      service: 'service',
      'own key': ({ has_key: hasKey }) => (hasKey ? 'yes' : 'no'),
      'accepts INTERNAL_TOKEN': ({ accepts_internal_token: accepting }) => (accepting ? 'yes' : 'no'),
      'needed it last': ({ legacy }) =>
        legacy
          .map(({ last_at: at }) => at)
          .toSorted()
          .at(-1),
    }),
    isSafe ? text(advice, 'safe') : text(obstacles.join('\n'), 'still needed'),
  ];
}

/** For so long nothing may have been accepted that only INTERNAL_TOKEN makes acceptable. */
const QUIET_SECONDS = 3_600;

type TrustReport = {
  /** Whether INTERNAL_TOKEN can be removed without a request or a message being refused. */
  is_safe: boolean;
  services: ({ service: ServiceName } & TrustState)[];
  unsigned_dead_letters: { queue: string; dead: number }[];
  /** Sentences; none when it is safe. */
  obstacles: string[];
};

/** @throws Failure when a service does not answer: then nothing is known. */
async function readTrustReport(
  api: Api,
  isOpsKeyless: boolean,
  unsigned: TrustReport['unsigned_dead_letters'],
): Promise<{ report: TrustReport; silent: string[] }> {
  const asked = Object.fromEntries(serviceNames.map((name) => [name, api.call(ReadTrust[name])])) as {
    [name in ServiceName]: Promise<TrustState>;
  };
  const { answers, silent } = await whatAnswers(asked);
  const services = serviceNames.flatMap((service) => {
    const { [service]: answer } = answers;
    return answer === undefined ? [] : [{ service, ...answer }];
  });
  const obstacles = [
    ...(isOpsKeyless ? ['ops shows INTERNAL_TOKEN here: give it a SIGNING_KEY, or sign in'] : []),
    ...services.flatMap(obstaclesOf),
    ...unsigned.map(
      ({ queue, dead }) => `${queue} has ${dead} dead letters that nobody signed: redrive or discard them first`,
    ),
  ];
  const isSafe = obstacles.length === 0 && silent.length === 0;
  return { report: { is_safe: isSafe, services, unsigned_dead_letters: unsigned, obstacles }, silent };
}

/** What keeps one service from doing without INTERNAL_TOKEN. */
function obstaclesOf({
  service,
  has_key: hasKey,
  accepts_internal_token: acceptsToken,
  watched_seconds: watched,
  legacy,
}: TrustReport['services'][number]): string[] {
  const recent = legacy.filter(({ seconds_ago: seconds }) => seconds < QUIET_SECONDS);
  return [
    ...(hasKey ? [] : [`${service} has no SIGNING_KEY`]),
    ...(acceptsToken && (watched ?? 0) < QUIET_SECONDS
      ? [`${service} has watched for ${Math.floor((watched ?? 0) / 60)} minutes only: wait for an hour`]
      : []),
    ...recent.map(({ kind, last_at: at }) => `${service} ${sayings[kind]}, last at ${shortTime(at)}`),
  ];
}

const sayings: Record<LegacyUse['kind'], string> = {
  shared_token: 'accepted a call by INTERNAL_TOKEN alone',
  operator_token: "accepted an operator's token that api-gateway's key has not signed",
  unsigned_message: 'accepted a message that nobody signed',
  process_without_key: 'had a process without a SIGNING_KEY',
};
