#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { RehearsedPayment, SigningKey } from './events.ts';
import { printed } from './print.ts';
import { PAYMENTS_NEEDED, rehearse, REHEARSAL_KEYS, type RehearsalOptions } from './rehearse.ts';

const signingKeys = (keys: readonly (SigningKey | undefined)[]): string =>
  JSON.stringify(Object.fromEntries(keys.flatMap((key) => (key === undefined ? [] : [[key.id, key.key]]))));

const help = `Usage: quittance-rehearse <url> [options]

Acts as the sender of webhooks to your own receiver: genuine events, repeated, forged, old, in any order and at once.
Reports what it does wrong, why that matters, and what to do. Only for a receiver whose effects do not matter.

  --key <key_id>=<key>      a signing key that the receiver has; twice: the current one, then the previous one
  --effects <url>           answers how often each payment has been fulfilled: {"<payment_id or order_id>": 1, …}
  --payments <file>         JSON, ${PAYMENTS_NEEDED} or more unpaid payments that the receiver knows, each used once:
                            [{"payment_id": "pay_…", "expected_amount": "49.9037", "order_id": "1007"}, …]
  --timeout <seconds>       how long an answer may take; 15, as in production
  --effects-wait <seconds>  how long effects may lag behind the answers; 10
  --json                    the report for programs

Without --key the receiver must know the keys of the rehearsal. They are no secret: never give them to a server.
  SIGNING_KEYS='${signingKeys(REHEARSAL_KEYS)}'

Exit code: 0 no fault, 1 faults, 2 wrong usage.
`;

class UsageError extends Error {}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`quittance-rehearse: ${(error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write('See --help.\n');
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { values, positionals } = readWords();
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) throw new UsageError('give one URL, such as http://localhost:3000/webhook');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`${url} is not an http(s) URL`);
  const keys = keysFrom(values.key ?? []);
  const options: RehearsalOptions = {
    url,
    keys,
    timeoutMs: seconds('timeout', values.timeout ?? '15', 0.001),
    effectsWaitMs: seconds('effects-wait', values['effects-wait'] ?? '10', 0),
    ...(values.payments !== undefined && { payments: await readPayments(values.payments) }),
    ...(values.effects !== undefined && { effects: effectsAt(values.effects) }),
  };
  if (values.json === true) {
    const report = await rehearse(options);
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return report.ok ? 0 : 1;
  }
  process.stdout.write(
    `Rehearsing with ${url}, which must know these signing keys:\n  SIGNING_KEYS='${signingKeys(keys)}'\n\n`,
  );
  const isTerminal = process.stdout.isTTY;
  const report = await rehearse({
    ...options,
    ...(isTerminal && {
      onCheck: (title) => void process.stdout.write(`\r\u001b[K${title.slice(0, process.stdout.columns - 1)}`),
    }),
  });
  if (isTerminal) process.stdout.write('\r\u001b[K');
  process.stdout.write(printed(report, isTerminal && process.env['NO_COLOR'] === undefined));
  return report.ok ? 0 : 1;
}

function readWords() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        ...{ key: { type: 'string', multiple: true }, effects: text, payments: text },
        ...{ timeout: text, 'effects-wait': text, json: flag, help: flag },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function keysFrom(words: readonly string[]): RehearsalOptions['keys'] {
  const [present, older, ...more] = words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1 || at === word.length - 1) throw new UsageError('--key is <key_id>=<key>');
    return { id: word.slice(0, at), key: word.slice(at + 1) };
  });
  if (more.length > 0) throw new UsageError('there are two keys at most: the current one, and the previous one');
  if (present === undefined) return REHEARSAL_KEYS;
  return older === undefined ? [present] : [present, older];
}

function seconds(name: string, word: string, atLeast: number): number {
  const value = Number(word);
  if (word.trim() === '' || !(value >= atLeast && value <= 3_600))
    throw new UsageError(`--${name} is a number of seconds, from ${atLeast} to 3600`);
  return value * 1_000;
}

async function readPayments(file: string): Promise<RehearsedPayment[]> {
  const payments = JSON.parse(await readFile(file, 'utf8')) as unknown;
  const isPayment = (each: Partial<RehearsedPayment> | null): boolean =>
    typeof each?.payment_id === 'string' && typeof each.expected_amount === 'string';
  if (!Array.isArray(payments) || !payments.every(isPayment))
    throw new UsageError(`${file} is not an array of payments with payment_id and expected_amount`);
  if (payments.length < PAYMENTS_NEEDED)
    throw new UsageError(`${file} has ${payments.length} payments; ${PAYMENTS_NEEDED} are needed`);
  return payments as RehearsedPayment[];
}

/** @throws Error, also while the rehearsal runs, when the URL gives no such answer. */
function effectsAt(url: string): NonNullable<RehearsalOptions['effects']> {
  if (!URL.canParse(url)) throw new UsageError(`--effects ${url} is not a URL`);
  return async () => {
    const answer = await fetch(url).catch((error: unknown) => {
      throw new Error(`${url} does not tell effects: ${(error as Error).message}`);
    });
    const counts = (await answer.json().catch(() => null)) as Record<string, number> | null;
    if (!answer.ok || counts === null || typeof counts !== 'object' || !Object.values(counts).every(Number.isInteger))
      throw new Error(
        `${url} does not tell effects: it answered ${answer.status}, not {"<payment_id or order_id>": 1, …}`,
      );
    return counts;
  };
}
