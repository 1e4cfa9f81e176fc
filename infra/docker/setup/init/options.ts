import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';

export type Options = {
  directory: string;
  host?: string;
  endpoints?: string;
  wallet?: string[];
  ownProxy?: boolean;
  single?: boolean;
  trial?: boolean;
  update?: boolean;
};

/** Values that a deployment needs. Absent values stay unchanged. */
export type Answers = { host?: string; endpointLines: string[]; wallets: string[] };

const examples = `
A line of --endpoints is "<network> <url> [Header:value …] [field=value …]", best first, with fields of the networks file:
  tron https://api.trongrid.io/jsonrpc TRON-PRO-API-KEY:<key> requests_per_second=15 requests_per_day=100000
  ethereum https://eth-mainnet.g.alchemy.com/v2/<key>
Keys are read from a file, not from an option, because every user of a machine can read the options of a program.`;

/** @throws CommanderError after printing the help or an error message. */
export function readOptions(words: readonly string[]): Options {
  const command = new Command('init')
    .description(
      'Writes .env, networks.json and chain-watcher.env for a Docker Compose deployment. Asks for missing values.',
    )
    .option('--host <name>', 'the name under which customers reach the server, such as pay.example.com')
    .option('--endpoints <file>', 'a file with the endpoints through which chains are read, one a line; "-" is stdin')
    .option('--wallet <address>', 'a wallet to check, may be repeated; it is not stored', collect)
    .option(
      '--own-proxy',
      'your own proxy on this machine terminates TLS, instead of the one in docker-compose.tls.yml',
    )
    .option('--single', 'all services in one process, for a small server')
    .option('--trial', 'for the test chain, which needs none of the above')
    .option('--update', 'change existing files: secrets and everything that is not named stay as they are')
    .option('--directory <path>', 'the checkout', '.')
    .addHelpText('after', examples)
    .exitOverride()
    .parse(words, { from: 'user' });
  return command.opts<Options>();
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** @throws Error naming what is missing when there is no terminal to ask. */
export async function readAnswers(options: Options): Promise<Answers> {
  const { host, endpoints, wallet = [], update = false } = options;
  const lines =
    endpoints === undefined
      ? []
      : linesOf(await (endpoints === '-' ? text(process.stdin) : readFile(endpoints, 'utf8')));
  const given: Answers = { ...(host !== undefined && { host }), endpointLines: lines, wallets: wallet };
  const missing = [host === undefined && '--host', lines.length === 0 && '--endpoints'].filter((one) => one !== false);
  if (update || missing.length === 0) return given;
  if (!process.stdin.isTTY || endpoints === '-')
    throw new Error(`${missing.join(' and ')} must be given when there is no terminal (--trial needs neither)`);
  return ask(given);
}

const linesOf = (content: string): string[] =>
  content
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

async function ask({ host, endpointLines, wallets }: Answers): Promise<Answers> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const name = host ?? (await terminal.question('Name of the server, as customers see it (pay.example.com): '));
    if (endpointLines.length === 0) process.stdout.write(`${examples.trim().split('\n').slice(0, -1).join('\n')}\n`);
    const lines = endpointLines.length > 0 ? endpointLines : await untilEmpty(terminal, 'Endpoint, empty when done: ');
    const addresses = wallets.length > 0 ? wallets : await untilEmpty(terminal, 'Wallet to check, empty when done: ');
    return { host: name.trim(), endpointLines: lines, wallets: addresses };
  } finally {
    terminal.close();
  }
}

async function untilEmpty(terminal: ReturnType<typeof createInterface>, question: string): Promise<string[]> {
  const answers: string[] = [];
  for (;;) {
    const answer = (await terminal.question(question)).trim();
    if (answer === '') return answers;
    answers.push(answer);
  }
}
