import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseBackendLine, type GivenBackend } from './backends.ts';
import { checkWallet, nameWarnings, publicHost } from './checks.ts';
import { parseEndpointLine } from './endpoint-line.ts';
import { environmentText } from './env-file.ts';
import { networksFiles, type NetworksFiles } from './networks-files.ts';
import { readAnswers, readOptions, type Answers, type Options } from './options.ts';
import { portProblems, publishedValues } from './publishing.ts';

type Files = { environment: string | null; networks: string | null; keys: string | null };

/**
 * Creates or changes the files that docker-compose.yml reads. Nothing is written unless everything is valid.
 * @returns what to read next. @throws Error that lists all problems.
 */
export async function init(_: NodeJS.ProcessEnv, words: readonly string[]): Promise<string> {
  const options = readOptions(words);
  const { directory } = options;
  const example = await readFile(join(directory, '.env.example'), 'utf8').catch(() => {
    throw new Error(`${directory} is not a checkout of Quittance: it has no .env.example`);
  });
  const before = await readFiles(directory);
  const there = (options.trial ? (['environment'] as const) : kinds).filter((kind) => before[kind] !== null);
  if (there.length > 0 && !options.update) {
    const found = there.map((kind) => names[kind]).join(' and ');
    throw new Error(
      `there is ${found} already. --update changes what you name and keeps the rest, secrets first of all`,
    );
  }
  const answers: Answers = options.trial
    ? { endpointLines: [], wallets: [], backendLines: [] }
    : await readAnswers(options);
  const problems: string[] = [];
  const chains = await keepProblem(problems, () => chainFiles(directory, before, answers));
  if (chains !== undefined)
    for (const wallet of answers.wallets) await keepProblem(problems, () => checkWallet(wallet, chains.enabled));
  const backends = await usableBackends(problems, answers.backendLines);
  const values = await keepProblem(problems, () => valuesOf(options, before.environment ?? '', answers, backends));
  const environment = environmentText(example, before.environment, values);
  problems.push(...(await portProblems(environment, before.environment)));
  if (problems.length > 0) throw new Error(`nothing is written:\n- ${problems.join('\n').replaceAll('\n', '\n- ')}`);

  await writeFiles(directory, { environment, networks: chains?.networks ?? null, keys: chains?.keys ?? null });
  return report(environment, chains);
}

/** All problems are reported together, so that the user can fix them at once. */
async function keepProblem<T>(problems: string[], work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Reads the lines and tries each backend. @returns those that can be used. */
async function usableBackends(problems: string[], lines: readonly string[]): Promise<GivenBackend[]> {
  const read = await Promise.all(lines.map((line) => keepProblem(problems, () => parseBackendLine(line))));
  const backends = read.filter((one) => one !== undefined);
  await Promise.all(backends.map(({ check }) => keepProblem(problems, check)));
  return backends;
}

/** @returns undefined if no option concerns chains. */
async function chainFiles(
  directory: string,
  before: Files,
  { endpointLines, wallets }: Answers,
): Promise<NetworksFiles | undefined> {
  if (endpointLines.length === 0 && wallets.length === 0) return undefined;
  const file = before.networks ?? (await readFile(join(directory, 'infra', 'networks.json'), 'utf8'));
  return networksFiles(file, before.keys ?? '', endpointLines.map(parseEndpointLine));
}

const trialFiles = 'docker-compose.yml:docker-compose.trial.yml';
const tlsFile = 'docker-compose.tls.yml';
const noticesFile = 'docker-compose.notices.yml';
const singleFile = 'docker-compose.single.yml';
const bothFile = 'docker-compose.single-notices.yml';
const liveFiles = `docker-compose.yml:docker-compose.external.yml:${tlsFile}`;

/** The compose files, separated by colons. Only the options that were given change them. */
function composeFiles({ ownProxy, single, notices }: Options, earlier: string): string {
  const before = earlier.split(':').filter((file) => !(ownProxy && file === tlsFile));
  const hasNotices = notices || before.includes(noticesFile);
  const isSingle = single || before.includes(singleFile);
  // A later file changes what earlier ones have.
  const last = [
    ...(hasNotices ? [noticesFile] : []),
    ...(isSingle ? [singleFile] : []),
    ...(hasNotices && isSingle ? [bothFile] : []),
  ];
  return [...before.filter((file) => ![noticesFile, singleFile, bothFile].includes(file)), ...last].join(':');
}

/** The values that change in .env. The files and profiles of an earlier .env that is not a trial's stay as its owner set them. */
function valuesOf(
  options: Options,
  earlier: string,
  { host, endpointLines }: Answers,
  backends: readonly GivenBackend[],
): Record<string, string> {
  const { COMPOSE_FILE: files = '', PUBLIC_SUBNET: subnet, COMPOSE_PROFILES: profiles = '' } = parseEnv(earlier);
  const isNamed = host !== undefined;
  const hasChains = endpointLines.length > 0;
  const goesLive = (files === '' || files === trialFiles) && (isNamed || hasChains);
  if (goesLive && !(isNamed && hasChains))
    throw new Error('--host and --endpoints are both needed to change a trial into a deployment');
  const staysTrial = options.trial || (files === trialFiles && !goesLive);
  if (options.single && staysTrial)
    throw new Error('a trial runs each of the five services as its own process: --single is for deployments only');
  if (options.notices && staysTrial)
    throw new Error('a trial sends nothing to the outside: --notices is for deployments only');
  if (backends.length > 0 && staysTrial)
    throw new Error('a trial has its own PostgreSQL and RabbitMQ: --backends is for deployments only');
  const own = backends.map(({ kind }): string => kind);
  const bundled = (goesLive ? 'postgres,rabbitmq' : profiles).split(',').filter((name) => !own.includes(name));
  const chosen = composeFiles(options, goesLive ? liveFiles : files || 'docker-compose.yml');
  return {
    ...(isNamed && { PUBLIC_BASE_URL: `https://${publicHost(host)}` }),
    ...((goesLive || options.ownProxy || options.single || options.notices) && { COMPOSE_FILE: chosen }),
    ...(options.trial && { COMPOSE_FILE: trialFiles }),
    ...(hasChains && { NETWORKS_FILE: './networks.json' }),
    ...((goesLive || own.length > 0) && { COMPOSE_PROFILES: bundled.join(',') }),
    ...backends.reduce((all, { values }) => ({ ...all, ...values }), {}),
    ...publishedValues(options),
    // The source address of connections from the machine itself: the first address of the network.
    ...(options.ownProxy && {
      EDGE_TRUSTED_PROXIES: (subnet || '10.213.251.0/24').replace(/(\d+)\/\d+$/, (_, last) => String(Number(last) + 1)),
    }),
  };
}

const names = { environment: '.env', networks: 'networks.json', keys: 'chain-watcher.env' } as const;
/** The containers run as another user and read the networks file. Only Compose reads the other two, as the calling user. */
const modes = { environment: 0o600, networks: 0o644, keys: 0o600 } as const;
const kinds = ['networks', 'keys', 'environment'] as const;

async function readFiles(directory: string): Promise<Files> {
  const read = (name: string) =>
    readFile(join(directory, name), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
  const [environment, networks, keys] = await Promise.all([names.environment, names.networks, names.keys].map(read));
  return { environment: environment ?? null, networks: networks ?? null, keys: keys ?? null };
}

/** Each file is replaced completely or not at all; .env last, because it names the others. */
async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const kind of kinds) {
    const content = files[kind];
    if (content === null) continue;
    const file = join(directory, names[kind]);
    const unfinished = `${file}.new`;
    await rm(unfinished, { force: true });
    await writeFile(unfinished, content, { mode: 0o600, flag: 'wx' });
    await chmod(unfinished, modes[kind]);
    await rename(unfinished, file);
  }
}

async function report(environment: string, chains: NetworksFiles | undefined): Promise<string> {
  const { PUBLIC_BASE_URL: address = '' } = parseEnv(environment);
  const host = URL.parse(address)?.protocol === 'https:' ? URL.parse(address)?.hostname : undefined;
  const enabled = chains?.enabled.map(({ id }) => id) ?? [];
  const written = `.env is written for ${address}${enabled.length > 0 ? `, with ${enabled.join(', ')}` : ''}. Only you can read it.`;
  const warnings = [...(chains?.warnings ?? []), ...(host === undefined ? [] : await nameWarnings(host))];
  const copy =
    'Keep a copy of .env where your backups are not: without its encryption keys, stored signing keys and extended keys cannot be read.';
  return [written, ...warnings.map((warning) => `Note: ${warning}`), copy].join('\n');
}
