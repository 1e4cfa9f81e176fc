import { QuittanceError, readJson } from './errors.ts';
import { request, requestStream, type ApiRequest, type CallOptions, type TransportOptions } from './transport.ts';
import type {
  CreationLimits,
  DeliveryRecord,
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
  Profile,
  PublicPayment,
  Report,
  ReportQuery,
  TransferChoice,
  WebhookChoice,
  WebhookConfigured,
  WebhookSettings,
  WebhookTest,
} from './types.ts';

export type QuittanceOptions = {
  /** Where the API is, such as https://pay.example.com: everything before /api/v1. */
  baseUrl: string;
  /** For servers only, never for a browser. Not needed for `getPublicStatus` and `rotateApiKey`. */
  apiKey?: string;
  /** How long one attempt may wait for its answer, and an export for each piece of it, in milliseconds; 10,000 unless given. */
  timeoutMs?: number;
  /** How often a call is repeated where that is safe; 4 unless given, 0 for never. */
  maxRetries?: number;
  /** The longest pause between two attempts, in milliseconds; when more is asked for, the error is thrown. 10,000 unless given. */
  maxRetryDelayMs?: number;
  /** Instead of the global one. */
  fetch?: typeof fetch;
};

export type CreationOptions = CallOptions & {
  /**
   * Names this creation: with the same key and input, the same payment is answered, never a second one made. Take what your order is
   * called, so that a crash in between costs nothing. Random unless given; an error carries it.
   */
  idempotencyKey?: string;
};

/** @returns a client of one merchant's account. Each of its methods throws QuittanceError when it does not succeed. */
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
  /** Creates a payment, and sends the customer to its `payment_url`. @throws QuittanceError with the key to repeat it with. */
  createPayment(creation: PaymentCreation, { idempotencyKey, ...given }: CreationOptions = {}): Promise<Payment> {
    const headers = { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() };
    return call({ method: 'POST', path: '/payments', headers, json: creation, isIdempotent: true }, given);
  },

  /** A payment as it is now, with the transfers that may be for it, and warnings. */
  getPaymentDetails(paymentId: string, given: CallOptions = {}): Promise<PaymentDetails> {
    return call(read(`/payments/${encodeURIComponent(paymentId)}/details`), given);
  },

  /** Cancels a payment that waits. One that is cancelled already is answered alike. */
  async cancelPayment(paymentId: string, given: CallOptions = {}): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(paymentId)}`;
    try {
      return await call<Payment>({ method: 'POST', path: `${path}/cancel`, isIdempotent: true }, given);
    } catch (error) {
      // It may have been this call: an attempt whose answer was lost.
      if (!(error instanceof QuittanceError) || error.code !== 'cancel_unavailable') throw error;
      const details = await call<PaymentDetails>(read(`${path}/details`), given);
      const { unmatched_transfers: _transfers, warnings: _warnings, ...payment } = details;
      if (payment.status !== 'CANCELLED') throw error;
      return payment;
    }
  },

  /**
   * Says that a transfer which does not pay by itself is for this payment. It becomes PAID. Let a person decide: the transfer may be
   * somebody else's.
   * @param transfer as details and `findTransfers` have them. When it may be for several payments, add `confirm_candidates`: the
   * `candidate_count` that the person saw.
   */
  acceptTransfer(paymentId: string, transfer: TransferChoice, given: CallOptions = {}): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(paymentId)}/accept-transfer`;
    // The API refuses what else a transfer has.
    const { transaction_id, transaction_event_index, confirm_candidates } = transfer;
    const json = { transaction_id, transaction_event_index, confirm_candidates };
    return call({ method: 'POST', path, json, isIdempotent: true }, given);
  },

  /** What was sent to the endpoint about a payment: `PAID` first, then the newest. */
  async listDeliveries(paymentId: string, given: CallOptions = {}): Promise<DeliveryRecord[]> {
    const path = `/payments/${encodeURIComponent(paymentId)}/webhooks`;
    return (await call<{ deliveries: DeliveryRecord[] }>(read(path), given)).deliveries;
  },
});

const findingOf = ({ call, stream }: Calls) => ({
  /** The newest payments, at most 100. */
  async listPayments(filters: PaymentFilters = {}, given: CallOptions = {}): Promise<Payment[]> {
    return (await call<{ payments: Payment[] }>(read('/payments', filters), given)).payments;
  },

  /** One page, newest first; `next_cursor` leads to the next one. */
  pagePayments(query: PageQuery = {}, given: CallOptions = {}): Promise<PaymentPage> {
    return call(read('/payments/page', query), given);
  },

  /** Every payment, newest first, read page by page as they are taken. */
  async *eachPayment(query: Omit<PageQuery, 'cursor'> = {}, given: CallOptions = {}): AsyncGenerator<Payment, void> {
    let cursor: string | undefined;
    do {
      const page: PaymentPage = await call(read('/payments/page', { limit: 100, ...query, cursor }), given);
      yield* page.payments;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  },

  /** Every payment of up to 366 days, oldest first, as they come. @throws QuittanceError also when the export ends before its end. */
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
    throw new QuittanceError({ code: 'no_answer', message: `the export broke off after ${count} payments` });
  },

  /** The same as CSV (RFC 4180 with a header line), in bytes as they come. Reading fails with a QuittanceError when they break off. */
  exportPaymentsCsv(query: ExportQuery = {}, given: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return stream(read('/payments/export', { ...query, format: 'csv' }), given);
  },

  /** Payments counted and summed by day or month, in UTC; both days are included. */
  readReport(query: ReportQuery, given: CallOptions = {}): Promise<Report> {
    return call(read('/merchant/report', query), given);
  },

  /** Where the money of a transaction is. @param transactionId with or without 0x. */
  findTransfers(transactionId: string, given: CallOptions = {}): Promise<FoundTransfers> {
    return call(read('/merchant/transfers', { transaction_id: transactionId }), given);
  },
});

const webhooksOf = ({ call }: Calls) => ({
  getWebhook: (given: CallOptions = {}): Promise<WebhookSettings> => call(read('/merchant/webhook'), given),

  /** Sets the endpoint, and what it is told. The answer has the signing key the first time only: keep it. */
  putWebhook(settings: { url: string; events?: WebhookChoice }, given: CallOptions = {}): Promise<WebhookConfigured> {
    return call({ method: 'PUT', path: '/merchant/webhook', json: settings, isIdempotent: true }, given);
  },

  /** Has a test event sent now, once. It resolves also when the endpoint did not take it. */
  testWebhook(given: CallOptions = {}): Promise<WebhookTest> {
    return call({ method: 'POST', path: '/merchant/webhook/test', isIdempotent: true }, given);
  },

  /** A new signing key for everything that is sent from now on. Keep the one before for five minutes more. */
  rotateSigningKey(given: CallOptions = {}): Promise<NewSigningKey> {
    return call({ method: 'POST', path: '/merchant/webhook/rotate-key', isIdempotent: true }, given);
  },

  /** Has a failed event sent again. */
  retryEvent(eventId: string, given: CallOptions = {}): Promise<DeliveryRecord> {
    const path = `/merchant/webhook/events/${encodeURIComponent(eventId)}/retry`;
    // Twice would be told that it is pending, and takes two of the five that an hour has.
    return call({ method: 'POST', path, isIdempotent: false }, given);
  },
});

const accountOf = ({ call }: Calls) => ({
  /** Whether payments may be created, and how many. */
  getLimits: (given: CallOptions = {}): Promise<CreationLimits> => call(read('/merchant/limits'), given),

  getProfile: (given: CallOptions = {}): Promise<Profile> => call(read('/merchant/profile'), given),

  /** What customers see of the account. */
  putProfile(profile: Profile, given: CallOptions = {}): Promise<Profile> {
    return call({ method: 'PUT', path: '/merchant/profile', json: profile, isIdempotent: true }, given);
  },
});

/** Calls that take another credential than the API key. */
const publicOf = ({ call }: Pick<Calls, 'call'>) => ({
  /** What whoever has the link may know. @param token the last segment of `payment_url`, or all of it. */
  getPublicStatus(token: string, given: CallOptions = {}): Promise<PublicPayment> {
    return call(read(`/payments/${encodeURIComponent(token.split('/').at(-1) ?? '')}`), given);
  },

  /**
   * Replaces the account's first API key by a new one, which is shown only now. The old one stops working at once, for this client too.
   * @param rotationSecret `qr_…`, which came with the account.
   */
  rotateApiKey(rotationSecret: string, given: CallOptions = {}): Promise<NewApiKey> {
    const headers = { 'secret-key': rotationSecret };
    // An attempt whose answer was lost made a key that nobody knows; the next one replaces it.
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

/** The lines of a text as they come, without their ends. A last line without one is not whole, and left out. */
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
    // Also when the caller stops early: then the server need not go on.
    await reader.cancel().catch(() => undefined);
  }
}
