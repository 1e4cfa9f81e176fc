/**
 * Every rule of the public contract, in the contract's order, in our words. Each must have at least one test: the report (report.ts) lists
 * them with their tests and fails if one has none.
 */
export const rules = {
  // What the service does
  'service.paths': 'Every endpoint is below /api/v1/, and bodies are JSON',
  'service.reads-while-blocked':
    'An active account that may not create can still read, cancel and rotate its keys, and gets its webhooks',

  // Payment
  'payment.payment_id': 'payment_id is pay_ and 32 lowercase hexadecimal characters',
  'payment.payment_url': 'The last path segment of payment_url is the public token of this payment',
  'payment.amount': 'amount is decimal text, as sent on creation',
  'payment.merchant_wallet': "merchant_wallet is the merchant's recipient address, as sent on creation",
  'payment.description': 'description is the text sent on creation; the checkout link and webhook events show it',
  'payment.status': 'status is PENDING, CHECKING or PAID, or one of our EXPIRED and CANCELLED',
  'payment.link': 'The checkout link shows one payment and cannot change anything; cancelling does not revoke it',

  // Creation limits record
  'limits-record.fields': 'The creation limits record has all its fields with their types',
  'limits-record.utc': 'All its dates are UTC',
  'limits-record.not-activated': 'beta_started_at and beta_expires_at are null before activation',
  'limits-record.beta-package':
    'For beta, requests_used and requests_left count the package; lifetime_requests_used counts everything',
  'limits-record.no-credentials': 'It holds no credentials',

  // Webhook settings
  'webhook-settings.url': 'url is the HTTPS URL that was set',
  'webhook-settings.signing_key':
    'signing_key begins with whsec_ and is shown once: first PUT and rotation, never by reads',
  'webhook-settings.key_id': 'key_id names the signing key and is the X-Service-Key-ID of deliveries',

  // Webhook event
  'event.event_id': 'event_id begins with evt_, stays the same across retries and equals X-Service-Event-ID',
  'event.payment_id': 'payment_id is that of the payment',
  'event.status': 'status is PAID',
  'event.expected_amount': "expected_amount is the payment's decimal text",
  'event.transaction_id': 'transaction_id is 64 hexadecimal characters',
  'event.transaction_event_index': 'transaction_event_index is the position in the full receipt log',
  'event.description': 'description is that of the payment',

  // Delivery record
  'delivery.fields': 'A delivery record has event_id, payment_id, status, attempts, timestamps and error_category',
  'delivery.in-flight': 'status is also pending while an attempt is in progress',
  'delivery.hidden': 'URL, event body and signing secret are never in it',

  // States
  'states.payment.polled': 'A payment goes from PENDING through CHECKING to PAID',
  'states.delivery.delivered': 'A pending event becomes delivered by any 2xx answer, and by nothing else',
  'states.delivery.retry':
    'A retry of a failed event starts a new cycle: attempts 0, same id and bytes, current URL and key',
  'states.delivery.retry-refused': 'A retry of a pending or delivered event is 409 and changes nothing',
  'states.delivery.payment-stays': 'A payment stays PAID, whatever happens to its event',

  // Endpoints
  'endpoint.create': 'POST /payments: 201 with the payment; a replay answers 201 with the original response',
  'endpoint.list': 'GET /payments: a list of payments',
  'endpoint.page': 'GET /payments/page: a page of payments',
  'endpoint.details': 'GET /payments/{payment_id}/details: the latest state of the payment',
  'endpoint.cancel': 'POST /payments/{payment_id}/cancel: the cancelled payment',
  'endpoint.public-status': 'GET /payments/{public_token}: the minimal status of one payment, without a key',
  'endpoint.webhooks': 'GET /payments/{payment_id}/webhooks: at most 100 delivery records',
  'endpoint.retry': 'POST /merchant/webhook/events/{event_id}/retry: a new delivery cycle',
  'endpoint.limits': 'GET /merchant/limits: the creation limits record',
  'endpoint.put-webhook': 'PUT /merchant/webhook: the settings, with the key the first time; later calls keep the key',
  'endpoint.get-webhook': 'GET /merchant/webhook: the settings without the secret',
  'endpoint.rotate-webhook-key': 'POST /merchant/webhook/rotate-key: a new signing secret, shown once',
  'endpoint.rotate-key': 'POST /merchant/rotate-key: a new API key for the rotation secret',
  'endpoint.rule1.webhook-first': 'Creation before the webhook is configured is 409',
  'endpoint.rule1.unfinished': 'Creation with the amount and address of an unfinished payment is 409',
  'endpoint.rule1.replay': 'A creation repeated with its key and values gets its first answer again, 201',
  'endpoint.rule1.retry': 'A creation that failed is repeated with its key and can succeed then',
  'endpoint.rule1.access':
    'A merchant that may not create, or has used up a quota, gets a 403 with the code of the reason',
  'endpoint.rule2.cancel': 'Cancelling what cannot be cancelled is 409',
  'endpoint.rule3.public-status': 'Public status shows nothing beyond the minimum and is counted by token',
  'endpoint.rule4.webhooks': "Delivery records of an unknown payment, or another merchant's, are 404",
  'endpoint.rule5.retry': 'Retry: 409 while pending or delivered, 404 for foreign or unknown, 429 with Retry-After',
  'endpoint.rule6.url': 'PUT /merchant/webhook takes public HTTPS URLs on port 443 only; others are 422',
  'endpoint.rule7.rotation': 'New attempts use the new signing key at once; the API key stays',
  'endpoint.rule8.rotation': 'The previous API key stops working; the three credentials are independent',

  // Authentication
  'auth.1': 'Protected endpoints need X-API-Key; a bearer token is not one',
  'auth.2': 'A key in the query or the body is not accepted, and keys reach no log',
  'auth.3': 'Missing, wrong or blocked is 401; blocked while creating may be 403 account_inactive',
  'auth.4': 'Rotation takes secret-key; attempts are counted by secret, wrong ones too',
  'auth.5': 'The operator can replace both credentials while account and history stay',
  'auth.6': 'The public token reads the minimal status of its payment and nothing else',
  'auth.7': 'Deliveries are signed with a key of the merchant that API key rotation does not change',
  'auth.8': 'The limits call returns no credentials',

  // Events
  'events.paid-only': 'An event reports that a payment was paid; nothing else is reported',
  'events.delivery.1': 'A delivery is a POST of JSON to the configured URL',
  'events.delivery.2': 'Only 2xx counts; a lost answer repeats the same event',
  'events.delivery.3': 'Up to eight retries with growing delay; then the event can be retried manually',
  'events.delivery.4': 'A manual retry sends the same event, to the URL and with the key of the current settings',
  'events.delivery.5': 'A repeated event has the same id, so a receiver can recognise it',
  'events.delivery.6': 'Deliveries use no quota and continue while creation is blocked',
  'events.header.timestamp': 'X-Service-Timestamp: Unix seconds, fresh on every attempt',
  'events.header.signature': 'X-Service-Signature: v1= and the hex HMAC-SHA256 of timestamp, dot, raw body',
  'events.header.event-id': 'X-Service-Event-ID: the same across retries',
  'events.header.key-id': 'X-Service-Key-ID: selects the signing key',
  'events.header.standard': 'webhook-id, webhook-timestamp and webhook-signature are those of Standard Webhooks',
  'events.verification.1': 'The raw bytes and the whole key, whsec_ included, verify the signature',
  'events.verification.2': 'The expected value is v1= and the hex HMAC',
  'events.verification.3': 'The timestamp is all digits and at most 12 of them',
  'events.verification.4': 'The timestamp is within 300 seconds of the time of arrival',
  'events.verification.5': 'Any other body, timestamp or key does not verify',
  'events.verification.6': 'The ids in the header and in the body are equal',
  'events.diagnostics': 'Delivery records and payment details let a merchant reconcile',

  // Errors
  'errors.201': '201: created or replayed',
  'errors.401': '401: missing or invalid credentials',
  'errors.403': '403: paused, beta pending or expired, quota exhausted',
  'errors.404': '404: payment or event not found',
  'errors.409': '409: unfinished, wrong merchant, webhook missing, key conflict, cancel or retry unavailable',
  'errors.413': '413: body over 64 KiB',
  'errors.422': '422: invalid fields or webhook endpoint',
  'errors.429': '429: rate limit exceeded',
  'errors.503': '503: infrastructure temporarily unavailable',
  'errors.body.1': 'General errors: detail is a string',
  'errors.body.2': 'Access errors of creation: 403 with detail {code, message}',
  'errors.body.3': 'Validation: 422 with a list that names every field and its reason',
  'errors.body.4': 'Application limit: 429 with Retry-After and "Rate limit exceeded"',
  'errors.body.5': 'Gateway limit: 429 without Retry-After',
  'errors.body.6': 'A limiter that is down is 503, not a free pass',
  'errors.body.7': 'A replay still answers after expiry or exhaustion, and counts toward the creation limit',

  // Application rate limits
  'limits.app.webhooks': 'Delivery records: within the shared reads, 120 a minute',
  'limits.app.retry': 'Manual retry: 5 an hour; 404 and 409 count',
  'limits.app.create': 'Creation: 30 a minute',
  'limits.app.cancel': 'Cancellation: 60 a minute',
  'limits.app.list': 'GET /payments: within the shared reads',
  'limits.app.page': 'GET /payments/page: within the shared reads',
  'limits.app.details': 'Details: within the shared reads',
  'limits.app.limits': 'Limits: within the shared reads',
  'limits.app.get-webhook': 'GET /merchant/webhook: within the shared reads',
  'limits.app.put-webhook': 'PUT /merchant/webhook: 10 a minute with signing-key rotation',
  'limits.app.rotate-webhook-key': 'Signing-key rotation: 10 a minute with PUT',
  'limits.app.rotate-key': 'API key rotation: 5 a minute for each secret',
  'limits.app.public-status': 'Public status: 120 a minute for each token, for all clients together',
  'limits.app.window': 'Windows are fixed, begin with the first request and belong to the merchant, not the key',
  'limits.app.rule1': 'The shared reads together allow 120, not 120 each',
  'limits.app.rule2': 'One counter of 10 serves both PUT /merchant/webhook and signing-key rotation',
  'limits.app.rule3': 'Creation and cancellation have their own counters',
  'limits.app.rule4': 'Rotating the API key resets no counter',
  'limits.app.rule5': 'Replays count toward the creation limit and use no quota',
  'limits.app.rule6':
    'Validated requests count even when they fail later; refused ones too, without extending the window',
  'limits.app.rule7': 'An open checkout page polls again after 3.8 to 4 seconds, until the payment has ended',

  // Public gateway limits for one client IP
  'limits.edge.api': 'All of /api/v1/: 10 a second, bursts of 30 at once; 10 on API key rotation',
  'limits.edge.public-status': 'Public status: 5 a second, bursts of 20',
  'limits.edge.rotation': 'API key rotation: 1 a minute, bursts of 3',
  'limits.edge.pages': 'Pages and assets: 20 a second, bursts of 50',
  'limits.edge.connections': '30 requests in progress at a time from one IP',

  // Sizes
  'limits.size.body': 'A body has at most 64 KiB',
  'limits.size.deliveries': 'A delivery list has at most 100 events',
  'limits.size.attempts': 'An event gets up to eight retries',

  // Creation quota
  'quota.1': 'A standard beta ends 30 days after its activation',
  'quota.2': 'Standard beta allows 100 payments and 10 a UTC day; conditions may differ',
  'quota.3': 'Legacy accounts keep their total, without expiry or daily cap',
  'quota.4': "Moving to beta keeps the same day's count",
  'quota.5': 'Replays, reads and deliveries use no quota',
  'quota.6': 'An extension resets no usage and adds no quota',
  'quota.7': 'At midnight UTC a new daily count begins; only an operator changes the other limits of creation',
  'quota.8': 'Exhaustion, expiry and pause block only new payments',

  // Versioning
  'versioning.path': 'The version is in the path: /api/v1/',
  'versioning.signature': 'Signatures carry the tag v1=',

  // Beyond the interface document: creating a payment
  'extensions.creation.options':
    'order_id, metadata, return_url and requested_amount are in every answer with a payment',
  'extensions.creation.private': 'order_id and metadata are never visible with the checkout link',
  'extensions.creation.expires-in': 'expires_in decides when the payment expires',
  'extensions.creation.refused': 'An invalid option is 422 with its name',
  'extensions.creation.visible': 'A description has a visible character',
  'extensions.creation.replay': 'Options are part of the same body; absent equals the default',
  'extensions.creation.transaction':
    'transaction has the amount of the transfer, the time of its block, and whether it was accepted',
  'extensions.creation.null': 'null means absent for every optional field',
  'extensions.unique.amount':
    'A unique amount is the price and 0.0001 to 0.0099 that no other payment waits for, with four decimals',
  'extensions.unique.bare': 'While a plain payment of the bare price waits, a unique creation is 409',
  'extensions.unique.plain': 'While a unique payment of a price waits, a plain creation of the bare price is 409',
  'extensions.unique.rest': 'A unique amount is not used again within 24 hours after its payment ended',
  'extensions.unique.decimals': 'A unique amount needs a price of at most two decimals',
  'extensions.unique.dropped-digits':
    'A customer who drops the extra digits has paid too little, and pays no other payment',

  // Beyond the interface document: webhooks
  'extensions.webhooks.events':
    'A merchant chooses the events of its webhooks, only PAID at first; PUT and GET answer them',
  'extensions.webhooks.events-refused': 'A choice is a non-empty array of known words without repeats',
  'extensions.webhooks.test': 'A test event is one immediate attempt, with the current URL and key, and its result',
  'extensions.webhooks.test-unconfigured': 'It is 409 before the endpoint is set',
  'extensions.webhooks.test-limit': 'It counts with the webhook settings',
  'extensions.webhooks.paid': 'A PAID event also has the order_id and metadata of its payment; only it says PAID',
  'extensions.webhooks.notices':
    'CHECKING, EXPIRED and CANCELLED are sent with event_type, once each, to merchants that chose them',
  'extensions.webhooks.unmatched': 'An unmatched transfer is notified once, with the only payment that it may be for',
  'extensions.webhooks.candidates':
    'An unmatched transfer that may be for several payments names all of them, and none as the only one',
  'extensions.webhooks.expired-candidates':
    'A payment.expired event says how many unmatched transfers may be for its payment',
  'extensions.webhooks.superseded':
    'An event that PAID overtakes is not sent: failed with superseded, and a retry is 409 event_not_retryable',
  'extensions.webhooks.records': 'The delivery records of a payment are PAID first and have event_type, null for PAID',
  'extensions.webhooks.paid-first': 'PAID events are sent before the others of the same merchant',

  // Beyond the interface document: unmatched transfers
  'extensions.money.accept':
    'POST /payments/{payment_id}/accept-transfer: the merchant accepts a transfer for the payment',
  'extensions.money.accepted-event': 'The PAID event of an accepted transfer has accepted, and the accepted amount',
  'extensions.money.accept-refusals':
    'Accepting: 409 for a transfer that cannot be accepted, 404 for another merchant’s payment, 422 without a transfer',
  'extensions.money.accept-others':
    'Accepting: 409 for a transfer that pays another payment or has exactly the amount of another one',
  'extensions.money.details':
    'Details list the transfers that may be for the payment, with the reason and the number of payments they may be for',
  'extensions.money.ambiguous':
    'A transfer of the exact amount that several customers may have sent pays no payment, and is listed at each of them',
  'extensions.money.confirm-candidates':
    'Accepting a transfer that may be for several payments needs confirm_candidates, their number',
  'extensions.money.candidates':
    'GET /merchant/transfers names all payments that a transfer may be for, and names a single one only if it is the only one',
  'extensions.money.warnings': 'Details say what may prevent money from being noticed or used; nothing else',
  'extensions.money.transfers':
    'GET /merchant/transfers: the outcome of a transaction, from the ledger or else from the chain',
  'extensions.money.transfers-refusals':
    'GET /merchant/transfers: 422 without a transaction id; another merchant learns only what the chain shows',
  'extensions.money.customers':
    'GET /pay/{token}?transaction_id=…: how a customer’s transaction relates to the payment, six times a minute',
  'extensions.money.arrived': 'The page of each payment that money may be for says how much arrived; dust is not shown',

  // Beyond the interface document: wallet pools
  'extensions.pools.list': 'PUT /merchant/wallet-pools/{name} with addresses: replaces the list or adds to it',
  'extensions.pools.refused':
    'Addresses that belong to other merchants are left out and named; nobody gets one by a PUT',
  'extensions.pools.key':
    'PUT /merchant/wallet-pools/{name} with an extended public key: its first addresses and next index, never the key',
  'extensions.pools.key-refused':
    'A key of another level, kind or first address is 422; so is a private key, which stays nowhere',
  'extensions.pools.key-conflict': 'The key of another merchant is 409 wallet_of_another_merchant',
  'extensions.pools.invalid': 'An invalid pool is 422 with every wrong field',
  'extensions.pools.limits': 'At most 20 pools for a merchant, else 422',
  'extensions.pools.reads':
    'GET /merchant/wallet-pools lists the pools by name, GET …/{name} reads one, and an unknown one is 404',
  'extensions.pools.payments': 'A change of a pool touches no payment',
  'extensions.pools.counts': 'PUT of a pool and DELETE of a rest count with the webhook settings',
  'extensions.rests.release':
    'DELETE /merchant/wallet-rests/{address} ends the rest of an address once; 404 where none rests',

  // Beyond the interface document: an address of its own for each payment
  'extensions.dedicated.one-of':
    'A creation has exactly one of merchant_wallet and wallet_pool; a pool is one of the merchant, on its own network',
  'extensions.dedicated.refused':
    'dedicated_wallet and wallet_pool are 422 with unique_amount; so is accept_from_percent outside 50 to 100 or on a shared wallet',
  'extensions.dedicated.pool': 'A payment from a pool has an address of it for itself',
  'extensions.dedicated.index': 'A payment from a key has its next index, each once, and shows derivation_index',
  'extensions.dedicated.replay': 'A replay keeps the address',
  'extensions.dedicated.exhausted': 'Without a free address, a creation from a list is 409 wallet_pool_exhausted',
  'extensions.dedicated.in-use':
    'dedicated_wallet is 409 wallet_in_use while a payment on the address waits or rests, and 30 days after one that shared it',
  'extensions.dedicated.closed':
    'Other creations on such an address are 409 wallet_dedicated while its payment waits or rests',
  'extensions.dedicated.parts':
    'All transfers to such an address count together: CHECKING when seen ones suffice, PAID when confirmed ones do',
  'extensions.dedicated.enough': 'accept_from_percent says which part of the amount is enough',
  'extensions.dedicated.overpaid': 'More than the amount is never refused; what comes after PAID is overpaid',
  'extensions.dedicated.accept':
    'Accepting one transfer to such an address accepts all of them; the least part holds for their sum',
  'extensions.dedicated.transfers':
    'Details list the transfers to such an address and their sum; on a shared wallet the list is empty and the sum null',
  'extensions.dedicated.event': 'The PAID event has received_amount and transfers, and is sent once',
  'extensions.dedicated.page': 'The page shows what arrived and asks for the rest',
  'extensions.dedicated.found': 'GET /merchant/transfers: each transfer that has paid in part pays_payment',
  'extensions.dedicated.export': 'The export has dedicated, derivation_index, received_amount and accept_from_percent',
  'extensions.dedicated.report': 'The report counts everything that arrived as paid_amount',

  // Beyond the interface document: errors and accounts
  'extensions.errors.code':
    'Every error has a top-level code of its status in addition to detail; that of a 403 is the code of detail',
  'extensions.errors.conflict': 'Each kind of 409 has its own code',
  'extensions.errors.edge': 'JSON answers of the edge have a code too',
  'extensions.keys.read': 'A key with the scope read is 401 at every endpoint that it may not use',
  'extensions.keys.revoke': 'A key is refused from the moment of its revocation',
  'extensions.keys.rotate': 'rotate-key replaces the first key only',
  'extensions.keys.counters': 'All keys of a merchant share its counters',
  'extensions.profile': 'PUT and GET /merchant/profile: the name that customers see, 1 to 60 characters or null',
  'extensions.profile.look': 'The profile keeps logo, color, support and framing sites, and the page shows them',
  'extensions.prices.amount': 'amount is price × rate, rounded up to cents; a replay keeps the first rate',
  'extensions.prices.refused': 'Exactly one of amount and price, and a price of a known currency, else 422',
  'extensions.prices.paid': 'Price and rate are in the PAID event, on the page and in the report',
  'extensions.unlimited':
    'An account without limits is active at once, legacy, with no daily cap and no practical total',

  // Beyond the interface document: the checkout page
  'extensions.page.return': 'Every state of the page leads back to return_url',
  'extensions.page.shop': 'The page names the shop by its display_name, and shows no name without one',
  'extensions.page.link': 'A checkout link works with the punctuation that a chat program adds to it',
  'extensions.page.reference': 'The page shows the reference; order_id and metadata stay private',
  'extensions.page.help': 'The page accepts a transaction id, also without a script',

  // Beyond the interface document: finding and counting
  'extensions.finding.filters':
    'Both lists also filter by order_id, reference, transaction_id, merchant_wallet, network, paid_from and paid_to',
  'extensions.finding.filters-empty': 'An empty query parameter counts as absent',
  'extensions.finding.filters-refused': 'An invalid filter is 422 and named',
  'extensions.finding.export': 'GET /payments/export: a stream of payments, oldest first, as CSV or ndjson',
  'extensions.finding.export-one': 'One export at a time for a merchant, else 429 with Retry-After',
  'extensions.finding.export-refused': 'An export of more than 366 days is 422',
  'extensions.finding.report': 'GET /merchant/report: payments counted by day or month and network, with totals',
  'extensions.finding.report-by':
    'A report counts paid payments by the day they became PAID, or by the day of the block',
  'extensions.finding.report-refused': 'A report of more than 400 rows is 422',
  'extensions.proof':
    'GET /payments/{payment_id}/proof: what proves a PAID payment to anybody who trusts the hash of its block',
  'extensions.proof.refused': 'Where there is no proof: 409 proof_unavailable, and the reason',
  'extensions.finding.limit': 'Exports and reports count with the shared reads',
} as const satisfies Record<string, string>;

export type RuleId = keyof typeof rules;
