import { ReadTrust, type LegacyUse, type TrustState } from '@quittance/contracts/http/trust.ts';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { whatAnswers, type Api } from './api.ts';
import { shortTime } from './text.ts';

/** For so long nothing may have been accepted that only INTERNAL_TOKEN makes acceptable. */
const QUIET_SECONDS = 3_600;

export type TrustReport = {
  /** Whether INTERNAL_TOKEN can be removed without a request or a message being refused. */
  is_safe: boolean;
  services: ({ service: ServiceName } & TrustState)[];
  unsigned_dead_letters: { queue: string; dead: number }[];
  /** Sentences; none when it is safe. */
  obstacles: string[];
};

/** @throws Failure when a service does not answer: then nothing is known. */
export async function readTrustReport(
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
