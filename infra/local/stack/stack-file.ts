import type { Caller, ServiceName } from '@quittance/contracts/service-name.ts';
import { readJson, StackError, writePrivateJson, type StackDirectory } from './directory.ts';

/** `.local/stack.json`: all that another program needs to use the running stack. It holds secrets, so its mode is 0600. */
export type StackFile = {
  /** The public door, through nginx. */
  edge_url: string;
  gateway_url: string;
  /** Where operators sign in. */
  console_url: string;
  services: Record<ServiceName, { url: string; replicas: { url: string; pid: number }[] }>;
  /** Of each service and of `ops`; callAs() signs with one of them. */
  signing_keys: Record<Caller, string>;
  /** Only in a stack that release 0.2.0 or an earlier one has made. */
  internal_token?: string;
  /** Superuser, database `quittance`. */
  postgres_url: string;
  /** Of whoever may do everything. */
  amqp_url: string;
  /** As the user of each service. */
  amqp_urls: Record<ServiceName, string>;
  management_url: string | null;
  chain: StackChain;
  /** The Tron beside it, in Tron's spelling of addresses; only where it was asked for. `rpc_url` takes no transactions: they go to the chain. */
  tron?: StackChain & {
    /** The demo merchant's. */
    wallet: string;
  };
  merchant: DemoMerchant;
  /** What plays the merchants' endpoints: GET events_url tells what came, POST url/behaviour sets what is answered. */
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

/** Keeps the file true. Writes go one after another: several services may be started again at the same moment. */
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

  /** Changes the file once there is one; before that, `create` will have the newest state anyway. */
  update(change: Partial<StackFile>): void {
    if (this.#contents === null) return;
    const contents = Object.assign(this.#contents, change);
    this.#written = this.#written
      .then(() => writePrivateJson(this.#path, contents))
      .catch((error: unknown) => this.#say(`${this.#path} could not be written: ${String(error)}`));
  }
}
