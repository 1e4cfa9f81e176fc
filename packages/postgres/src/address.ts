/** The URL of a database, taken apart. */
export type Address = {
  /** The URL without `options` and `pgbouncer`. */
  url: string;
  /** Startup options that the operator put into the URL, such as `-c work_mem=8MB`; empty without them. */
  options: string;
  /**
   * `pgbouncer=true`: a pooler is in between. It gives a transaction any connection to the server, drops startup
   * options, and doesn't know named statements of other connections.
   */
  isPooled: boolean;
};

export function parseAddress(text: string): Address {
  const url = new URL(text);
  const options = url.searchParams.get('options') ?? '';
  const isPooled = url.searchParams.get('pgbouncer') === 'true';
  url.searchParams.delete('options');
  url.searchParams.delete('pgbouncer');
  return { url: url.href, options, isPooled };
}
