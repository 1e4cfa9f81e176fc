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
  notices?: boolean;
  backends?: string;
  edge?: string;
  console?: string;
  receiver?: string;
  tlsAddress?: string;
  httpPort?: string;
  httpsPort?: string;
  trial?: boolean;
  update?: boolean;
};

/** Values that a deployment needs. Absent values stay unchanged. */
export type Answers = { host?: string; endpointLines: string[]; wallets: string[]; backendLines: string[] };

const examples = `
A line of --endpoints is "<network> <url> [Header:value …] [field=value …]", best first, with fields of the networks file:
  tron https://api.trongrid.io/jsonrpc TRON-PRO-API-KEY:<key> requests_per_second=15 requests_per_day=100000
  ethereum https://eth-mainnet.g.alchemy.com/v2/<key>

A line of --backends is "postgres <url> [pooler=host:port]" or "rabbitmq <url> [management=<url>]", with an administrator's URL:
  postgres postgres://admin:<password>@db.example.com:5432/quittance?sslmode=verify-full
  rabbitmq amqps://admin:<password>@broker.example.com/quittance management=https://admin:<password>@broker.example.com

Keys and passwords are read from a file, not from an option, because every user of a machine can read the options of a program.`;

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
    .option('--notices', 'the notifier, for merchants without a backend (docs/notices.md)')
    .option(
      '--backends <file>',
      'a file with your own PostgreSQL or RabbitMQ, instead of the bundled ones; "-" is stdin',
    )
    .option('--edge <address:port>', 'where the edge listens on this machine (127.0.0.1:8080)')
    .option('--tls-address <address>', 'the address of this machine on which TLS listens (0.0.0.0)')
    .option('--http-port <port>', 'the port to which port 80 of your router leads (80)')
    .option('--https-port <port>', 'the port to which port 443 of your router leads (443)')
    .option('--console <address:port>', 'where the console listens on this machine (127.0.0.1:8090)')
    .option('--receiver <address:port>', 'where the receiver of a trial shows its events (127.0.0.1:8081)')
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
  const { host, endpoints, backends, wallet = [], update = false } = options;
  if (endpoints === '-' && backends === '-') throw new Error('only one of --endpoints and --backends can be stdin');
  const lines = await linesOf(endpoints);
  const backendLines = await linesOf(backends);
  const given: Answers = { ...(host !== undefined && { host }), endpointLines: lines, wallets: wallet, backendLines };
  const missing = [host === undefined && '--host', lines.length === 0 && '--endpoints'].filter((one) => one !== false);
  if (update || missing.length === 0) return given;
  if (!process.stdin.isTTY || [endpoints, backends].includes('-'))
    throw new Error(`${missing.join(' and ')} must be given when there is no terminal (--trial needs neither)`);
  return ask(given, backends === undefined);
}

/** The lines of a file without remarks; none of no file. */
async function linesOf(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
  return content
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

async function ask(given: Answers, asksForBackends: boolean): Promise<Answers> {
  const { host, endpointLines, wallets } = given;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const name = host ?? (await terminal.question('Name of the server, as customers see it (pay.example.com): '));
    if (endpointLines.length === 0) process.stdout.write(`${examples.trim().split('\n').slice(0, 3).join('\n')}\n`);
    const lines = endpointLines.length > 0 ? endpointLines : await untilEmpty(terminal, 'Endpoint, empty when done: ');
    const addresses = wallets.length > 0 ? wallets : await untilEmpty(terminal, 'Wallet to check, empty when done: ');
    const backendLines = asksForBackends
      ? await untilEmpty(terminal, 'PostgreSQL or RabbitMQ of your own, as in --help, empty for the bundled ones: ')
      : given.backendLines;
    return { host: name.trim(), endpointLines: lines, wallets: addresses, backendLines };
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
