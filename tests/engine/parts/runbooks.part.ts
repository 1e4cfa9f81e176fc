import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@quittance/testkit/eventually.ts';
import { deploy, type Deployment } from '../deployment.ts';
import { patience } from '../docker.ts';
import type { Part, PartContext } from '../part.ts';
import { runbookCommands } from '../runbook.ts';
import { firing, notInhibited, writeReceiver } from '../watching.ts';

/**
 * What a command of a runbook must print here, or why it is not run. A command without a line must end well. One that shows something that
 * changes by itself is typed until it prints it.
 */
type Expected = { command: RegExp; prints: RegExp; isTypedUntil?: true } | { command: RegExp; notRun: string };

type Case = {
  alert: string;
  /** Pages and sections of docs/runbooks that are followed, in this order. */
  runbooks: [page: string, section: string][];
  /** Causes the alert. @returns what the reader puts in place of words of the runbook. */
  cause: (deployment: Deployment) => Promise<Record<string, string>>;
  expected: Expected[];
  /** What the runbook leaves to somebody else, such as a provider of nodes. Called between Check and Do. */
  elsewhere?: (deployment: Deployment) => Promise<unknown>;
};

/** Where docs/go-live.md puts copies. */
const backups = '/var/backups/quittance';
/** Kilobytes of the disk for backups, and of what fills it. A copy of a new installation has some thousand. */
const diskKb = 64_000;
const fillingKb = 63_500;

const cases: Case[] = [
  {
    alert: 'BackupFailed',
    runbooks: [['backup', 'BackupFailed']],
    cause: async (deployment) => {
      const disk = await fullDisk(deployment.folder);
      await deployment.run('sh', 'infra/docker/backup.sh', disk).then(
        () => Promise.reject(new Error('a backup succeeded on a full disk')),
        () => undefined,
      );
      return { [backups]: disk };
    },
    expected: [
      { command: /^sh infra/, prints: /no space left on device[^]*the backup failed/i },
      { command: /^df/, prints: /\b(?:99|100)%/ },
      { command: /ps -a postgres$/, prints: /\bUp\b.*healthy/ },
    ],
    elsewhere: async ({ folder, run }) => {
      await run('sh', '-c', `rm ${join(folder, 'backups')}/quittance-2020*`);
      await run('sh', 'infra/docker/backup.sh', join(folder, 'backups'));
    },
  },
  {
    alert: 'DeadLettersOfMoney',
    runbooks: [
      ['messaging', 'DeadLettersOfMoney'],
      ['messaging', 'MessageNotSigned'],
    ],
    cause: forgeMessage,
    expected: [
      { command: /summary$/, prints: /payments\.transfer-observed.*not_signed/ },
      { command: /dead-letter list/, prints: /payments\.transfer-observed/ },
      { command: /show/, prints: /not_signed/ },
      { command: /redrive/, prints: /sent back +0/ },
      { command: /list_connections/, prints: /chain-watcher/ },
      { command: /close_all_user_connections/, notRun: 'nobody else is connected' },
      { command: /discard/, prints: /discarded +1/ },
    ],
  },
  {
    alert: 'PostgresUnreachable',
    runbooks: [['processes', 'PostgresUnreachable']],
    cause: ({ compose }) => compose('stop', 'postgres').then(() => ({})),
    expected: [
      { command: /ps -a postgres$/, prints: /Exited \(0\)/ },
      { command: /logs --tail 50 postgres$/, prints: /database system is shut down/ },
    ],
  },
  {
    alert: 'BrokerUnreachable',
    runbooks: [['messaging', 'BrokerUnreachable']],
    cause: ({ compose }) => compose('stop', 'rabbitmq').then(() => ({})),
    expected: [
      { command: /grep RabbitMQ$/, prints: /"level":"(?:warn|error)".*RabbitMQ/ },
      { command: /check_alarms$/, prints: /is not running/ },
      { command: /ps -a rabbitmq$/, prints: /Exited \(0\)/ },
    ],
  },
  {
    alert: 'PaymentsMissing',
    runbooks: [['payments', 'PaymentsMissing']],
    cause: ({ compose }) => compose('stop', 'payments').then(() => ({})),
    expected: [
      { command: /ps -a payments$/, prints: /Exited \(0\)/ },
      { command: /up -d$/, notRun: 'there was no update to go back from' },
    ],
  },
  {
    alert: 'ChainEndpointsDown',
    runbooks: [['chain-watcher', 'ChainEndpointsDown']],
    // A node that accepts connections and answers nothing.
    cause: ({ compose }) => compose('pause', 'anvil').then(() => ({ 'https://eth.example.com': 'http://anvil:8545' })),
    expected: [
      // For the ten seconds of each probe it is half_open.
      { command: /chain status$/, prints: /\bopen\b/, isTypedUntil: true },
      { command: /fetch/, prints: /TimeoutError/ },
    ],
    elsewhere: ({ compose }) => compose('unpause', 'anvil'),
  },
];

export const part: Part = {
  name: 'runbooks',
  about:
    'six alerts are caused, each of another kind; the rules fire, the commands of their runbooks print what they should, and the alerts end',
  run: async (context) => {
    const files = ['docker-compose.alerts.yml'];
    const deployment = await deploy(context, { options: ['--own-proxy'], files, prepare: writeReceiver });
    const faults: string[] = [];
    for (const one of cases)
      await followed(deployment, context, one).catch((error: unknown) => faults.push(`${one.alert}: ${String(error)}`));
    if (faults.length > 0) throw new Error(faults.join('\n'));
    await deployment.paid();
  },
};

async function followed(deployment: Deployment, context: PartContext, one: Case): Promise<void> {
  const { say, onEnd } = context;
  if (one.alert === 'BackupFailed') onEnd(async () => void removeDisk(deployment.folder));
  const words = await one.cause(deployment);
  await eventually(async () => expectFiring(await firing(deployment), one.alert), patience);
  say(`fires   ${one.alert}; not inhibited: ${(await notInhibited(deployment)).join(', ')}`);
  const commands = one.runbooks.flatMap(([page, section]) => runbookCommands(page, section));
  for (const { command } of commands.filter(({ answer }) => answer === 'Check'))
    await typeIn(deployment, context, command, words, one.expected);
  await one.elsewhere?.(deployment);
  for (const { command } of commands.filter(({ answer }) => answer === 'Do'))
    await typeIn(deployment, context, command, words, one.expected);
  await eventually(async () => {
    if ((await firing(deployment)).includes(one.alert)) throw new Error(`${one.alert} still fires`);
  }, patience);
  await deployment.up();
  say(`ended   ${one.alert}`);
}

function expectFiring(alerts: readonly string[], alert: string): void {
  if (!alerts.includes(alert)) throw new Error(`${alert} does not fire; ${alerts.join(', ') || 'nothing'} does`);
}

/** Runs a command as the runbook has it. @throws Error when it does not print what is expected. */
async function typeIn(
  { run }: Deployment,
  { say }: PartContext,
  written: string,
  words: Record<string, string>,
  all: readonly Expected[],
): Promise<void> {
  const expected = all.find(({ command }) => command.test(written));
  if (expected !== undefined && 'notRun' in expected) {
    say(`left    ${written}: ${expected.notRun}`);
    return;
  }
  const filled = Object.entries(words).reduce((text, [word, value]) => text.replaceAll(word, value), written);
  // Without a terminal nobody can answer its question (docs/runbooks/README.md).
  const command = filled.includes('dead-letter discard') ? `${filled} --yes` : filled;
  // The audit names the user who types, whom a machine of tests may lack.
  const type = async () => {
    const said = await run('sh', '-c', `export USER=operator; (${command}) 2>&1 || echo "ended with $?"`);
    if (!(expected?.prints ?? /^(?![^]*ended with \d+\n$)/).test(said))
      throw new Error(`${command} printed, not ${String(expected?.prints ?? 'a good end')}:\n${said}`);
  };
  await (expected?.isTypedUntil ? eventually(type, patience) : type());
  say(`typed   ${command}`);
}

/** A disk on which an earlier copy leaves too little room for the next one. */
async function fullDisk(folder: string): Promise<string> {
  const disk = join(folder, 'backups');
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(diskKb)}k`, 'tmpfs', disk]);
  await writeFile(join(disk, 'quittance-2020-01-01T000000Z.tar.gz'), Buffer.alloc(fillingKb * 1024));
  return disk;
}

const removeDisk = (folder: string): Buffer => execFileSync('umount', [join(folder, 'backups')]);

/** What somebody with the administrator's password of RabbitMQ could send in the name of chain-watcher. */
async function forgeMessage({ compose, folder, run }: Deployment): Promise<Record<string, string>> {
  const queue = 'payments.transfer-observed';
  const password = (await run('sh', '-c', `sed -n 's/^RABBITMQ_PASSWORD=//p' ${join(folder, '.env')}`)).trim();
  const message = {
    properties: { message_id: '01900000-0000-7000-8000-000000000001', type: 'TransferObserved' },
    routing_key: queue,
    payload: '{}',
    payload_encoding: 'string',
  };
  const send = `fetch('http://rabbitmq:15672/api/exchanges/%2F/amq.default/publish', { method: 'POST', body: process.argv[1],
    headers: { authorization: 'Basic ' + btoa('quittance:' + process.argv[2]) } }).then((r) => r.text()).then(console.log)`;
  const answer = await compose('exec', '-T', 'payments', 'node', '-e', send, JSON.stringify(message), password);
  if (!answer.includes('"routed":true')) throw new Error(`RabbitMQ did not take the message: ${answer}`);
  return { QUEUE: queue, MESSAGE: message.properties.message_id };
}
