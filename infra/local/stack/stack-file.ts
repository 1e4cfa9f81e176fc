import type { Caller, ServiceName } from '@quittance/contracts/service-name.ts';
import { readJson, StackError, writePrivateJson, type StackDirectory } from './directory.ts';

/** `.local/stack.json`: everything that another program needs to use the running stack. It holds secrets, so its mode is 0600. */
export type StackFile = {
  /** The public address, through nginx. */
  edge_url: string;
  gateway_url: string;
  /** The page where operators sign in. */
  console_url: string;
  services: Record<ServiceName, { url: string; replicas: { url: string; pid: number }[] }>;
  /** Keys of each service and of `ops`; callAs() signs with one of them. */
  signing_keys: Record<Caller, string>;
  /** Only in a stack that was made by release 0.2.0 or an earlier one. */
  internal_token?: string;
  /** Superuser, database `quittance`. */
  postgres_url: string;
  /** URL of an administrator. */
  amqp_url: string;
  /** URLs for the user of each service. */
  amqp_urls: Record<ServiceName, string>;
  management_url: string | null;
  chain: StackChain;
  /**
   * The Tron network, with Tron's spelling of addresses; only if requested. `rpc_url` accepts no transactions: they are sent to the local
   * chain.
   */
  tron?: StackChain & {
    /** The demo merchant's wallet. */
    wallet: string;
  };
  merchant: DemoMerchant;
  /** The merchants' endpoint: GET events_url lists what it received, POST url/behaviour sets how it answers. */
  receiver: { url: string; events_url: string };
  /** Paths of the certificate authority's PEM files. */
  ca: { cert: string; key: string };
  logs: string;
};

export type StackChain = {
  network: string;
  rpc_url: string;
  chain_id: number;
  token: string;
  decimals: number;
  payer_address: string;
  payer_private_key: string;
};

export type DemoMerchant = {
  merchant_id: string;
  api_key: string;
  rotation_secret: string;
  webhook_url: string;
  signing_key: string;
  key_id: string;
  wallet: string;
};

/** @throws StackError when no stack is running. */
export async function readStackFile(directory: StackDirectory): Promise<StackFile> {
  const stack = await readJson<StackFile>(directory.stackFile);
  if (stack === null)
    throw new StackError('The local stack is not running. Start it with `npm start` (or `npm start -- --detach`).');
  return stack;
}

/** Keeps the file up to date. Writes run one after another, because several services may be restarted at the same moment. */
export class StackFileWriter {
  readonly #path: string;
  readonly #say: (line: string) => void;
  #contents: StackFile | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string, say: (line: string) => void) {
    this.#path = path;
    this.#say = say;
  }

  async create(contents: StackFile): Promise<void> {
    this.#contents = contents;
    await writePrivateJson(this.#path, contents);
  }

  /** Changes the file if it exists. Before that, `create` writes the newest state anyway. */
  update(change: Partial<StackFile>): void {
    if (this.#contents === null) return;
    const contents = Object.assign(this.#contents, change);
    this.#written = this.#written
      .then(() => writePrivateJson(this.#path, contents))
      .catch((error: unknown) => this.#say(`${this.#path} could not be written: ${String(error)}`));
  }
}
