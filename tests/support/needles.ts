import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { inDatabase } from './database.ts';
import { send } from './http.ts';

/** Texts to look for, each with the secret that it reveals. */
export type Needles = Map<string, string>;

/** Adds a secret's random part, without its prefix, as text and in the usual encodings of its bytes. */
export function note(needles: Needles, what: string, secret: string): void {
  const random = secret.slice(-43);
  const raw = Buffer.from(random, 'base64url');
  needles.set(random, what);
  needles.set(Buffer.from(random).toString('hex'), `${what}, its text in hex`);
  needles.set(raw.toString('hex'), `${what}, its bytes in hex`);
  needles.set(raw.toString('base64'), `${what}, its bytes in base64`);
}

export const found = (text: string, needles: Needles): string[] =>
  [...needles].filter(([needle]) => text.includes(needle)).map(([, what]) => what);

/** Every table of ours, as `schema.table`. A partitioned table includes its partitions. */
export async function tablesOf(stack: StackFile): Promise<string[]> {
  const tables = await inDatabase<{ name: string }>(
    stack,
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_|^information_schema$' order by 1`,
  );
  return tables.map(({ name }) => name);
}

/** Searches rows as text, which shows bytes in hex. A partitioned table is searched with all of its partitions. */
export async function foundInTable(stack: StackFile, table: string, needles: Needles): Promise<string[]> {
  const rows = await inDatabase<{ needle: string }>(
    stack,
    `select distinct hit.needle from (select t::text as line from ${table} t offset 0) r,
     lateral (select needle from unnest($1::text[]) needle where strpos(r.line, needle) > 0) hit`,
    [[...needles.keys()]],
  );
  return rows.map(({ needle }) => needles.get(needle)!);
}

export async function logsIn(directory: string): Promise<{ name: string; text: string }[]> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.log'));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(directory, name), 'utf8') })));
}

/**
 * Every queue of the stack, including dead-letter queues, with the text of its messages. @returns null if the broker has no management API.
 */
export async function readQueues(
  stack: Pick<StackFile, 'management_url' | 'amqp_url'>,
): Promise<{ name: string; messages: string }[] | null> {
  if (stack.management_url === null) return null;
  const { origin, username, password } = new URL(stack.management_url);
  const authorization = `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`;
  const ask = async <T>(method: string, path: string, body?: object) =>
    (await send(method, origin + path, { headers: { Authorization: authorization }, body })).json<T>();
  const vhost = encodeURIComponent(decodeURIComponent(new URL(stack.amqp_url).pathname.slice(1)) || '/');
  const queues = await ask<{ name: string; messages?: number }[]>('GET', `/api/queues/${vhost}`);
  const looked = { count: 1_000, ackmode: 'ack_requeue_true', encoding: 'auto' };
  return Promise.all(
    queues.map(async ({ name, messages = 0 }) => {
      const path = `/api/queues/${vhost}/${encodeURIComponent(name)}/get`;
      return { name, messages: messages === 0 ? '' : JSON.stringify(await ask('POST', path, looked)) };
    }),
  );
}
