import { type Leg, parseRate } from '@quittance/contracts/rates.ts';
import type { RatesObserved } from '@quittance/contracts/messages.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** What one source said last about one currency. */
export type Quote = {
  source: string;
  currency: string;
  /** With 18 decimals, and as the source wrote it. */
  scaled: bigint;
  text: string;
  as_of: Date;
  /** Its value before `as_of`, with 18 decimals; null for the first one. */
  previous: bigint | null;
};

/** Everything a rate is made of. `accepted`: the last price of one USDT on which the exchanges agreed. */
export type KnownRates = {
  now: Date;
  quotes: readonly Quote[];
  accepted: ReadonlyMap<Leg, { scaled: bigint; at: Date }>;
};

/** After this, a source counts as switched off. */
const FORGET = '14 days';

type Row = {
  now: Date;
  /** Null if nothing is stored. */
  source: string | null;
  currency: string;
  value: string;
  as_of: Date;
  previous: string | null;
  is_accepted: boolean;
};

type Stored = Row & { source: string };

/** Everything that is stored about rates, at most a hundred rows, in one statement. */
export async function readKnownRates(db: Queryable): Promise<KnownRates> {
  const { rows } = await db.query<Row>({
    name: 'read-rates',
    text: `
      select clock.now, known.* from (select date_trunc('milliseconds', clock_timestamp()) as now) clock
        left join lateral (
          select source, currency, value, as_of, previous, false as is_accepted from rate_quote
           where as_of > clock.now - interval '${FORGET}'
          union all
          select '', currency, value, accepted_at, null, true from rate_accepted) known on true`,
  });
  const stored = rows.filter((row): row is Stored => row.source !== null);
  return {
    now: rows[0]?.now ?? new Date(0),
    quotes: stored.filter((row) => !row.is_accepted).map(toQuote),
    accepted: new Map(
      stored
        .filter((row) => row.is_accepted)
        .map(({ currency, value, as_of: at }) => [currency as Leg, { scaled: scaledOf(value), at }]),
    ),
  };
}

const toQuote = ({ source, currency, value, as_of, previous }: Stored) => ({
  ...{ source, currency, as_of, text: value, scaled: scaledOf(value) },
  previous: previous === null ? null : scaledOf(previous),
});

function scaledOf(text: string): bigint {
  const scaled = parseRate(text);
  if (scaled === null) throw new Error('a stored rate is not a rate');
  return scaled;
}

/** Keeps the newest value of each source and currency, and the one before. No value is newer than our own clock. */
export async function storeQuotes(tx: Transaction, quotes: RatesObserved['quotes']): Promise<void> {
  const usable = quotes.filter(({ value }) => parseRate(value) !== null);
  await tx.query(
    `insert into rate_quote as known (source, currency, value, as_of)
     select distinct on (source, currency) source, currency, value, least(as_of, clock_timestamp())
       from jsonb_to_recordset($1) as said (source text, currency text, value text, as_of timestamptz)
      order by source, currency, as_of desc
     on conflict (source, currency) do update
        set value = excluded.value, as_of = excluded.as_of, previous = known.value
      where excluded.as_of > known.as_of`,
    [JSON.stringify(usable)],
  );
}

/** The price of one USDT on which the exchanges agree now: a later one is compared with it. */
export async function storeAccepted(tx: Transaction, leg: Leg, value: string, at: Date): Promise<void> {
  await tx.query(
    `insert into rate_accepted as known (currency, value, accepted_at) values ($1, $2, $3)
     on conflict (currency) do update set value = excluded.value, accepted_at = excluded.accepted_at
      where excluded.accepted_at > known.accepted_at`,
    [leg, value, at],
  );
}
