import { QuittanceError, readJson } from './errors.ts';
import { request, requestStream, type ApiRequest, type CallOptions, type TransportOptions } from './transport.ts';
import type {
  CreationLimits,
  DeliveryRecord,
  EndedRest,
  ExportQuery,
  FoundTransfers,
  NewApiKey,
  NewSigningKey,
  PageQuery,
  Payment,
  PaymentCreation,
  PaymentDetails,
  PaymentFilters,
  PaymentPage,
  PaymentProof,
  Profile,
  ProfileChange,
  PublicPayment,
  RatesInForce,
  Report,
  ReportQuery,
  TransferChoice,
  WalletPool,
  WalletPoolChange,
  WebhookChoice,
  WebhookConfigured,
  WebhookSettings,
  WebhookTest,
} from './types.ts';

export type QuittanceOptions = {
  /** The URL of the API before /api/v1, such as https://pay.example.com. */
  baseUrl: string;
  /** For servers only, never for a browser. Not needed for `getPublicStatus` and `rotateApiKey`. */
  apiKey?: string;
  /** How long one attempt may wait for its answer, and an export for each part, in milliseconds. Default: 10,000. */
  timeoutMs?: number;
  /** How often a call is repeated if that is safe. Default: 4; 0 for never. */
  maxRetries?: number;
  /** The longest pause between two attempts, in milliseconds. If the server asks for more, the error is thrown. Default: 10,000. */
  maxRetryDelayMs?: number;
  /** Used instead of the global one. */
  fetch?: typeof fetch;
};

export type CreationOptions = CallOptions & {
  /**
   * Identifies this creation: the same key and input return the same payment, and never create a second one. Use your order's id, so that
   * you can repeat it after a crash. Random by default; an error has it.
   */
  idempotencyKey?: string;
};

/** @returns a client of one merchant's account. Each of its methods throws a QuittanceError when it fails. */
export function createClient(options: QuittanceOptions) {
  const transport: TransportOptions = {
    baseUrl: baseUrlOf(options.baseUrl),
    fetch: options.fetch ?? ((...given) => fetch(...given)),
    timeoutMs: options.timeoutMs ?? 10_000,
    maxRetries: options.maxRetries ?? 4,
    maxRetryDelayMs: options.maxRetryDelayMs ?? 10_000,
  };
  const key: Record<string, string> = options.apiKey === undefined ? {} : { 'X-API-Key': options.apiKey };
  const withKey = (asked: ApiRequest): ApiRequest => ({ ...asked, headers: { ...key, ...asked.headers } });
  const calls: Calls = {
    call: (asked, given) => request(transport, withKey(asked), given),
    stream: (asked, given) => requestStream(transport, withKey(asked), given),
  };
  return {
    ...paymentsOf(calls),
    ...poolsOf(calls),
    ...findingOf(calls),
    ...webhooksOf(calls),
    ...accountOf(calls),
    ...publicOf({ call: (asked, given) => request(transport, asked, given) }),
  };
}

export type Quittance = ReturnType<typeof createClient>;

type Calls = {
  call<T>(asked: ApiRequest, call: CallOptions): Promise<T>;
  stream(asked: ApiRequest, call: CallOptions): Promise<ReadableStream<Uint8Array>>;
};

const paymentsOf = ({ call }: Calls) => ({
  /** Creates a payment. Send the customer to its `payment_url`. @throws QuittanceError with the key for repeating the call. */
  createPayment(creation: PaymentCreation, { idempotencyKey, ...given }: CreationOptions = {}): Promise<Payment> {
    const headers = { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() };
    return call({ method: 'POST', path: '/payments', headers, json: creation, isIdempotent: true }, given);
  },

  /** The current state of a payment, with the transfers that may be for it, and warnings. */
  getPaymentDetails(paymentId: string, given: CallOptions = {}): Promise<PaymentDetails> {
    return call(read(`/payments/${encodeURIComponent(paymentId)}/details`), given);
  },

  /** What proves that a PAID payment was paid; see `verifyProof`. @throws QuittanceError `proof_unavailable` where there is none. */
  paymentProof(paymentId: string, given: CallOptions = {}): Promise<PaymentProof> {
    return call(read(`/payments/${encodeURIComponent(paymentId)}/proof`), given);
  },

  /** Cancels a waiting payment. An already cancelled one returns the same result. */
  async cancelPayment(paymentId: string, given: CallOptions = {}): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(paymentId)}`;
    try {
      return await call<Payment>({ method: 'POST', path: `${path}/cancel`, isIdempotent: true }, given);
    } catch (error) {
      // This call may have cancelled it, in an attempt whose answer was lost.
      if (!(error instanceof QuittanceError) || error.code !== 'cancel_unavailable') throw error;
      const details = await call<PaymentDetails>(read(`${path}/details`), given);
      const { unmatched_transfers: _unmatched, transfers: _transfers, warnings: _warnings, ...payment } = details;
      if (payment.status !== 'CANCELLED') throw error;
      return payment;
    }
  },

  /**
   * Accepts a transfer that does not pay by itself for this payment, which becomes PAID. If the payment has its address for itself, that is
   * everything that has arrived there. Let a person decide, because it may be another customer's transfer.
   * @param transfer from details or `findTransfers`. If it may be for several payments, add `confirm_candidates`: the `candidate_count`
   * that the person saw.
   */
  acceptTransfer(paymentId: string, transfer: TransferChoice, given: CallOptions = {}): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(paymentId)}/accept-transfer`;
    // The API refuses the other fields of a transfer.
    const { transaction_id, transaction_event_index, confirm_candidates } = transfer;
    const json = { transaction_id, transaction_event_index, confirm_candidates };
    return call({ method: 'POST', path, json, isIdempotent: true }, given);
  },

  /** The events sent to the endpoint about a payment: `PAID` first, then the newest. */
  async listDeliveries(paymentId: string, given: CallOptions = {}): Promise<DeliveryRecord[]> {
    const path = `/payments/${encodeURIComponent(paymentId)}/webhooks`;
    return (await call<{ deliveries: DeliveryRecord[] }>(read(path), given)).deliveries;
  },
});

const poolsOf = ({ call }: Calls) => ({
  /** Makes a pool of addresses, or changes it. Payments that exist keep their addresses. @param name `[a-z0-9-]{1,40}`. */
  putWalletPool(name: string, pool: WalletPoolChange, given: CallOptions = {}): Promise<WalletPool> {
    return call({ method: 'PUT', path: poolPath(name), json: pool, isIdempotent: true }, given);
  },

  /** One pool: its first addresses, and how many of a list are free. */
  getWalletPool: (name: string, given: CallOptions = {}): Promise<WalletPool> => call(read(poolPath(name)), given),

  /** All pools, by name. */
  async listWalletPools(given: CallOptions = {}): Promise<WalletPool[]> {
    return (await call<{ pools: WalletPool[] }>(read('/merchant/wallet-pools'), given)).pools;
  },

  /**
   * Ends the rest of an address early, so that it can be given to the next payment. What still arrives for the earlier payment is then
   * ambiguous. `not_found` says that the address does not rest, or no longer does.
   */
  endWalletRest(address: string, given: CallOptions = {}): Promise<EndedRest> {
    const path = `/merchant/wallet-rests/${encodeURIComponent(address)}`;
    return call({ method: 'DELETE', path, isIdempotent: true }, given);
  },
});

const poolPath = (name: string): string => `/merchant/wallet-pools/${encodeURIComponent(name)}`;

const findingOf = ({ call, stream }: Calls) => ({
  /** The rates that would convert a price now, and why other currencies have none. */
  getRates: (given: CallOptions = {}): Promise<RatesInForce> => call(read('/rates'), given),

  /** The newest payments, at most 100. */
  async listPayments(filters: PaymentFilters = {}, given: CallOptions = {}): Promise<Payment[]> {
    return (await call<{ payments: Payment[] }>(read('/payments', filters), given)).payments;
  },

  /** One page, newest first. Get the next one with `next_cursor`. */
  pagePayments(query: PageQuery = {}, given: CallOptions = {}): Promise<PaymentPage> {
    return call(read('/payments/page', query), given);
  },

  /** Every payment, newest first. Pages are read as they are needed. */
  async *eachPayment(query: Omit<PageQuery, 'cursor'> = {}, given: CallOptions = {}): AsyncGenerator<Payment, void> {
    let cursor: string | undefined;
    do {
      const page: PaymentPage = await call(read('/payments/page', { limit: 100, ...query, cursor }), given);
      yield* page.payments;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  },

  /** Every payment of up to 366 days, oldest first, as they arrive. @throws QuittanceError also when the export is incomplete. */
  async *exportPayments(query: ExportQuery = {}, given: CallOptions = {}): AsyncGenerator<Payment, void> {
    let count = 0;
    const bytes = await stream(read('/payments/export', { ...query, format: 'ndjson' }), given);
    for await (const line of linesOf(bytes)) {
      const value = readJson(line);
      if (value !== null && 'end' in value) {
        if (value['end'] === count) return;
        break;
      }
      if (value === null) break;
      count += 1;
      yield value as Payment;
    }
    throw new QuittanceError({ code: 'no_answer', message: `the export ended early, after ${count} payments` });
  },

  /** The same as CSV (RFC 4180 with a header line), as bytes. Reading fails with a QuittanceError when the connection breaks. */
  exportPaymentsCsv(query: ExportQuery = {}, given: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return stream(read('/payments/export', { ...query, format: 'csv' }), given);
  },

  /** Counts and sums of payments by day or month, in UTC; both days are included. */
  readReport(query: ReportQuery, given: CallOptions = {}): Promise<Report> {
    return call(read('/merchant/report', query), given);
  },

  /** Finds the transfers of a transaction. @param transactionId with or without 0x. */
  findTransfers(transactionId: string, given: CallOptions = {}): Promise<FoundTransfers> {
    return call(read('/merchant/transfers', { transaction_id: transactionId }), given);
  },
});

const webhooksOf = ({ call }: Calls) => ({
  getWebhook: (given: CallOptions = {}): Promise<WebhookSettings> => call(read('/merchant/webhook'), given),

  /** Sets the endpoint and its events. Only the first answer has the signing key: keep it. */
  putWebhook(settings: { url: string; events?: WebhookChoice }, given: CallOptions = {}): Promise<WebhookConfigured> {
    return call({ method: 'PUT', path: '/merchant/webhook', json: settings, isIdempotent: true }, given);
  },

  /** Sends a test event immediately, once. It resolves also when the endpoint did not accept it. */
  testWebhook(given: CallOptions = {}): Promise<WebhookTest> {
    return call({ method: 'POST', path: '/merchant/webhook/test', isIdempotent: true }, given);
  },

  /** Creates a new signing key for everything sent from now on. Keep the old one for another five minutes. */
  rotateSigningKey(given: CallOptions = {}): Promise<NewSigningKey> {
    return call({ method: 'POST', path: '/merchant/webhook/rotate-key', isIdempotent: true }, given);
  },

  /** Sends a failed event again. */
  retryEvent(eventId: string, given: CallOptions = {}): Promise<DeliveryRecord> {
    const path = `/merchant/webhook/events/${encodeURIComponent(eventId)}/retry`;
    // A repetition would be refused as pending, and would use two of the five retries an hour.
    return call({ method: 'POST', path, isIdempotent: false }, given);
  },
});

const accountOf = ({ call }: Calls) => ({
  /** Whether payments may be created, and how many. */
  getLimits: (given: CallOptions = {}): Promise<CreationLimits> => call(read('/merchant/limits'), given),

  getProfile: (given: CallOptions = {}): Promise<Profile> => call(read('/merchant/profile'), given),

  /** Sets what customers see of the account. Fields that are left out stay as they are. */
  putProfile(profile: ProfileChange, given: CallOptions = {}): Promise<Profile> {
    return call({ method: 'PUT', path: '/merchant/profile', json: profile, isIdempotent: true }, given);
  },
});

/** Calls without the API key. */
const publicOf = ({ call }: Pick<Calls, 'call'>) => ({
  /** What anyone with the link can see. @param token the last segment of `payment_url`, or the whole link. */
  getPublicStatus(token: string, given: CallOptions = {}): Promise<PublicPayment> {
    return call(read(`/payments/${encodeURIComponent(token.split('/').at(-1) ?? '')}`), given);
  },

  /**
   * Replaces the account's first API key by a new one, which is shown only now. The old one stops working immediately, also for this
   * client.
   * @param rotationSecret `qr_…`, which came with the account.
   */
  rotateApiKey(rotationSecret: string, given: CallOptions = {}): Promise<NewApiKey> {
    const headers = { 'secret-key': rotationSecret };
    // If an answer was lost, nobody has that new key; the next attempt replaces it.
    return call({ method: 'POST', path: '/merchant/rotate-key', headers, isIdempotent: true }, given);
  },
});

const read = (path: string, query: ApiRequest['query'] = {}): ApiRequest => ({
  method: 'GET',
  path,
  query,
  isIdempotent: true,
});

function baseUrlOf(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/api/v1`;
}

/** The lines of a text as they arrive, without line ends. A last line without a line end is incomplete, and left out. */
async function* linesOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const reader = bytes.getReader();
  let rest = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = (rest + decoder.decode(chunk.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.map((line) => line.replace(/\r$/, ''));
    }
  } finally {
    // Also when the caller stops early: then the server can stop too.
    await reader.cancel().catch(() => undefined);
  }
}
