import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { findGo, findPhp, whyNoGo, whyNoPhp, whyNoPython } from '@quittance/local-backends/languages.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '..', '..');
const clients = join(repository, 'packages', 'sdk', 'clients');
const drivers = join(import.meta.dirname, 'drivers');
const toolsDirectory = join(repository, '.local', 'tools');

/** The first words of a command, and what it needs in its environment in addition to the usual variables. */
export type Command = { words: string[]; env: Record<string, string> };

/** The programs of a language, ready to run. */
export type Programs = {
  /** Answers a line for each line, by the client. */
  driver: Command;
  /** The example shop: with `order` it places one, else it receives. */
  order: Command;
  receiver: Command;
  /** Has the shop of this DATABASE know orders that it need not place one by one. */
  addOrders(database: string, orders: readonly { payment_id: string; amount: string }[]): Promise<void>;
  remove(): Promise<void>;
};

export type Language = {
  name: string;
  /** Why there is no interpreter here, or null. */
  missing: string | null;
  prepare(): Promise<Programs>;
};

export const languages: readonly Language[] = [
  { name: 'Python', missing: whyNoPython(), prepare: python },
  { name: 'PHP', missing: whyNoPhp(), prepare: php },
  { name: 'Go', missing: whyNoGo(), prepare: go },
];

async function python(): Promise<Programs> {
  const folder = join(clients, 'python');
  const shop = { words: ['python3', '-B', join(folder, 'receiver.py')], env: {} };
  const driver = { words: ['python3', '-B', join(drivers, 'driver.py')], env: { PYTHONPATH: folder } };
  return { driver, order: shop, receiver: shop, addOrders: intoSqlite, remove: async () => undefined };
}

async function php(): Promise<Programs> {
  const { command, args, env } = await findPhp(toolsDirectory);
  const receiver = join(clients, 'php', 'receiver.php');
  const words = [command, ...args];
  return {
    driver: { words: [...words, join(drivers, 'driver.php'), join(clients, 'php', 'quittance.php')], env },
    order: { words: [...words, receiver], env },
    // By itself it serves one request after the other.
    receiver: { words: [...words, '-S', '127.0.0.1:0', receiver], env: { ...env, PHP_CLI_SERVER_WORKERS: '4' } },
    addOrders: intoSqlite,
    remove: async () => undefined,
  };
}

async function go(): Promise<Programs> {
  const { command, args, env } = await findGo(toolsDirectory);
  const directory = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-go-`));
  const bin = join(directory, 'bin');
  await cp(join(clients, 'go'), directory, { recursive: true });
  for (const made of [bin, join(directory, 'driver')]) await mkdir(made);
  await cp(join(drivers, 'driver.go'), join(directory, 'driver', 'driver.go'));
  const options = { cwd: directory, env: { ...process.env, ...env } };
  await run(command, [...args, 'vet', './...'], options);
  await run(command, [...args, 'build', '-o', `${bin}/`, './...'], options);
  const shop = { words: [join(bin, 'example')], env: {} };
  return {
    driver: { words: [join(bin, 'driver')], env: {} },
    order: shop,
    receiver: shop,
    addOrders: async (database, orders) => {
      for (const { payment_id: id, amount } of orders) await writeFile(join(database, id), amount);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function intoSqlite(database: string, orders: readonly { payment_id: string; amount: string }[]): Promise<void> {
  const shop = new DatabaseSync(database);
  const insert = shop.prepare('insert into shop_order (order_id, payment_id, amount) values (?, ?, ?)');
  for (const { payment_id: id, amount } of orders) insert.run(id, id, amount);
  shop.close();
}
