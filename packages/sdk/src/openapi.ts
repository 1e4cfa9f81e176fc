/** Made from docs/openapi.yaml by `npm run sdk`. */

export interface paths {
    "/api/v1/merchant/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what you may create
         * @description Your access and how much of it is used, up to your very last creation. It works while creation is blocked and says why.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what customers see
         * @description What the checkout page shows of you. `PUT` accepts this answer.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["getProfile"];
        /**
         * Say what customers see
         * @description Sets what the checkout page shows of you. A field that you leave out stays as it is, `null` clears it, and at least one field is
         *     needed. Pages show a change after a few seconds.
         *
         *     **Idempotent**, so repeat it after a 503.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s), except when it is 401 or 422.
         */
        put: operations["putProfile"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count payments by day or month
         * @description What became of your payments in each UTC day or month and on each network. Each is counted in the period in which it happened: as
         *     created by `created_at`, as paid by `paid_at` or, with `by=chain`, by the time of the block that carries its transfer, as cancelled by
         *     `cancelled_at`, as expired by `expires_at`. The two ways of counting differ when we noticed a transfer later than it was made, for
         *     example after an outage. A payment that was paid after all no longer counts as expired or cancelled. `paid_amount` is what the
         *     transfers carried, which differs from the amounts asked for where a transfer was accepted. Periods without anything have no row.
         *
         *     At most 400 rows; ask for less, or by month, where there would be more. Counting a million payments takes some seconds; when it takes too
         *     long the answer is 503, and a shorter span is answered. **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["readReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the API key
         * @description Answers a new API key, once. The old one stops working at that moment, everywhere. The request has no body; it is authenticated
         *     by the rotation secret in the header `secret-key`, and `X-API-Key` is not looked at.
         *
         *     **Not idempotent**: each success makes another key. Should the answer get lost or be a 503, rotate again: the old key may be
         *     replaced already. The rotation secret and the signing key stay as they are.
         *
         *     **Counts** by the secret that was sent, right or wrong (5 / 60 s), also where the body is too large; a missing or empty one is 401
         *     and not counted. A wrong secret is 401, and so are the right one while the account is blocked and a header that is sent twice. Our
         *     edge allows one rotation a minute from one IP address, and four at once after a quiet time.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/transfers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find out where a transaction's money is
         * @description What became of a transaction: its transfers that reached your wallets, and a sentence that you may show to your customer. What we
         *     have not read ourselves is looked up on every enabled network, which may take some seconds. No payment changes because of it.
         *
         *     A transfer that pays nothing names the payments it may be for in `candidates`. `payment_id` is set only when there is exactly one.
         *
         *     What is looked up is limited for each merchant and its customers together, and answers are kept for up to a minute. Beyond that,
         *     and while a network does not answer, it is `not_read_yet`: ask again later. `unknown` is said only when every network has answered.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["findTransfers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/wallet-pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the wallet pools
         * @description All your pools, by name, 20 at most.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["listWalletPools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/wallet-pools/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a wallet pool
         * @description One of your pools: how much is left of it, and its first three addresses.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["getWalletPool"];
        /**
         * Set a wallet pool
         * @description Makes the pool of this name, or changes it. A payment that is created with the pool gets an address for itself, so
         *     that everything that arrives on it is for this payment.
         *
         *     Send either a list of `addresses`, or the extended public key (`xpub`) of an account of your wallet and its first address.
         *
         *     - **A list** replaces the one before, or is added to it with `append: true`. Addresses that belong to another merchant are left
         *       out and named in `refused`. An address becomes yours when a payment is created on it, not by this call.
         *     - **A key** is one of account level, for example `m/44'/60'/0'` for EVM networks or `m/44'/195'/0'` for Tron. Addresses are its
         *       children 0/i. `expect_first_address` is the first address that your wallet shows for this account: a key of another level
         *       would give addresses that your wallet never looks at. The key is stored encrypted, and no answer has it. Anyone who has it can
         *       see all addresses of the account, and cannot spend. A **private** key (`xprv`) is refused; treat one that you sent as exposed.
         *     - Each index of a key is given once on each network, whatever its pools are named.
         *     - An address of a list is given again when no payment on it is unfinished, and none has ended within `rest_seconds`.
         *
         *     Payments that exist keep their addresses. You may have 20 pools, and 10,000 addresses in lists.
         *
         *     **Idempotent**, so repeat it after a 503. **Refusals, in this order**: 401, 413, 422 for what the request itself shows, 429,
         *     then 422 for a first address that is not that of the key, for more than is allowed and where the installation does not accept
         *     keys, and 409 for the key of another merchant.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s); a 422 for what the request itself shows does not count.
         */
        put: operations["putWalletPool"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/wallet-rests/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End the rest of an address
         * @description An address that a payment had for itself rests after the payment's end, so that late money is not taken for that of the next
         *     customer. This ends the rest of your address early, on every network. What arrives for the earlier payment from then on is
         *     ambiguous. Each call is recorded.
         *
         *     **Not idempotent**: a second call is 404.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s), 404 included.
         */
        delete: operations["endWalletRest"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the webhook settings
         * @description Your endpoint, what you chose to be told, and the id of the key that signs its events, never the key itself. 404 until the endpoint is set for the first time.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["getWebhook"];
        /**
         * Set the webhook endpoint
         * @description Sets where your events go. The **first** time, the answer also holds the signing key, which is never shown again; later calls
         *     change the URL and keep the key. If that first answer got lost, get a new key from `POST /api/v1/merchant/webhook/rotate-key`.
         *     Events that are still to be delivered go to the new URL.
         *
         *     `events` chooses what you are told: that payments are `PAID`, are `CHECKING` (the money was seen), have `EXPIRED`, are
         *     `CANCELLED`, and `TRANSFER_UNMATCHED` for money that pays nothing. `PAID` is always part of it. Without `events` you get `PAID`
         *     alone at first, and later what you chose before. It holds for what happens from then on; an event that was written is still sent.
         *
         *     The URL is public HTTPS on port 443, at most 2048 characters, without credentials and fragment. Its host is a name under a
         *     public domain, or a public IP address in its usual spelling, and every address the name leads to is public: neither private
         *     networks nor this machine nor a metadata service. An international host name (`bücher.example`) is kept, and answered, in its
         *     ASCII form (`xn--bcher-kva.example`); in the path and query, other characters are percent-encoded. Redirects are never followed.
         *     The operator may allow one merchant a host in a private network of theirs; this deviates from the rule above for that host alone.
         *
         *     **Idempotent**, apart from showing the key, so repeat it after a 503. **Refusals, in this order**: 401, 413, 422 for what the
         *     text itself shows, 429, then 422 for a host that does not exist or leads to a private address, and 503 when no name server
         *     answers.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s), together with signing-key rotation and test events; a 422 for the text does not count, one for
         *     the host does.
         */
        put: operations["putWebhook"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/webhook/events/{event_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver a failed event again
         * @description Starts a new cycle of attempts for an event that is `failed`. Its id and body stay the same; it goes to your present URL and is
         *     signed with your present key. No payment is created and no quota is taken. The request has no body.
         *
         *     An event that is `pending`, also while an attempt is being made, or `delivered` is 409. So is one that failed as `superseded`:
         *     its payment is `PAID`, and an older status must not follow. One that is another merchant's or does not exist is 404.
         *
         *     **Not idempotent**: repeating it is 409. After a 503, read the delivery records: the new cycle may have begun.
         *
         *     **Counts** toward *Manual retry* (5 / 3600 s), 404 and 409 included.
         */
        post: operations["retryEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/webhook/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the signing key
         * @description Answers a new signing key, once. Every attempt that begins from now on is signed with it. Keep the previous key for five more
         *     minutes for events that are on their way; `X-Service-Key-ID` tells which one to use. The request has no body, and the API key stays
         *     as it is.
         *
         *     **Not idempotent**: each success makes another key. Should the answer get lost or be a 503, rotate again: the old key may be
         *     replaced already. 409 until an endpoint is set.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s), together with changes of the URL and test events, the 409 included.
         */
        post: operations["rotateSigningKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/merchant/webhook/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Makes one attempt, now, to deliver a test event to your present URL, signed with your present key, under the same rules and time
         *     limits as every other, and answers what came of it. It is not repeated, belongs to no payment and has no record. The body is
         *
         *     ```
         *     {"event_id":"evt_…","event_type":"test","payment_id":null,"status":"TEST","expected_amount":"0","transaction_id":null,"transaction_event_index":null,"description":"Test event"}
         *     ```
         *
         *     The answer takes as long as your endpoint does, up to 15 seconds. It is 200 whether your endpoint took the event or not. One that
         *     did is sent the events that wait for it at once. The request has no body. 409 until an endpoint is set.
         *
         *     **Not idempotent**: each makes another test event.
         *
         *     **Counts** toward *Webhook settings* (10 / 60 s), the 409 included.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the latest payments
         * @description Your latest payments, newest first, at most 100. For more, go through `GET /api/v1/payments/page`.
         *
         *     A payment is listed when it fits all parameters that are given. Others than these are ignored, such as those of pages.
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["listPayments"];
        put?: never;
        /**
         * Create a payment
         * @description Creates a payment and answers with its checkout link, `payment_url`.
         *
         *     **Idempotent** by `Idempotency-Key` (see *Idempotency*). Repeat a creation that did not succeed with its key; do not start a
         *     fresh order because of it.
         *
         *     **Refusals, in this order**: 401, 413, 422, 429; then a saved answer is replayed (201), or refused for other content (409);
         *     then 403, in the order of its codes below; then 409 for a missing webhook, for a wallet of another merchant, and while an
         *     earlier payment that is `PENDING` or `CHECKING` waits for just this sum to reach this wallet over this network. Sums are
         *     compared by value (`10.5` equals `10.50`), for nobody could tell which of the two a transfer pays. Wait until the earlier
         *     payment is over, cancel it, or ask for a slightly different amount, which `unique_amount` does for you. A creation without
         *     `unique_amount` is also 409 while a payment with it is unfinished for the same price on this wallet and network, and the other
         *     way round: a customer who leaves out the last digits must not pay somebody else's order.
         *
         *     A wallet belongs to the first merchant who creates a payment on it.
         *
         *     **Counts** toward *Creation* (30 / 60 s), except when it is 401 or 422. Takes one payment of your quota only when it
         *     creates one.
         */
        post: operations["createPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{payment_id}/accept-transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an unmatched transfer for a payment
         * @description Takes a transfer that reached this payment's wallet and does not pay by itself, because its amount differs, it came late or
         *     after you cancelled, or it may be for several payments. The payment becomes `PAID` for good, and you get its one `PAID` event,
         *     with the amount that you asked for, `accepted: true` and what came. `unmatched_transfers` in the payment's details and
         *     `GET /api/v1/merchant/transfers` show which transfers there are. This works for a payment that is `PENDING`, `EXPIRED` or
         *     `CANCELLED`.
         *
         *     **Acceptance is your word that this money is for this payment.** Let a person compare the transfer with what the customer says
         *     (amount, time, transaction id) first; never accept automatically what may be somebody else's.
         *
         *     The chain is asked again before anything changes, which may take some seconds. A transfer can also be accepted when we have not
         *     noticed it ourselves, for example after the wallet was no longer watched. The answer is 409 when
         *
         *     - the transfer is not found on the payment's network, its block has gone again, or it is not final yet: try again later;
         *     - it went to another wallet, from the wallet to itself, or carries another token;
         *     - it carries less than 90 % of the payment's amount (the operator may have set another share): only an operator accepts less, so
         *       that a stolen API key does not turn a cent into goods;
         *     - it pays another payment, by itself or because somebody accepted it, or does so as soon as it is confirmed;
         *     - it is exactly the amount of another payment of this wallet that was unfinished, or had ended at most 24 hours earlier, when the
         *       transfer's block was made, and this payment asks for a different amount;
         *     - it is exactly this payment's amount, but by its time it cannot be for this payment and may be for another one;
         *     - it may be for several payments, and `confirm_candidates` is missing or is not their present number: read the details again;
         *     - another merchant has a payment that it may be for (`candidates_elsewhere`): only an operator accepts it;
         *     - this payment is `CHECKING`, or `PAID` by another transfer.
         *
         *     **Idempotent**: the same call again is the same 200.
         *
         *     **Counts** toward *Cancellation* (60 / 60 s), 404 and 409 included.
         */
        post: operations["acceptTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{payment_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a payment
         * @description Cancels a payment that is `PENDING`. The checkout link keeps working and shows the new status. Cancelling moves no money: a
         *     transfer that comes later is listed as unmatched, while one that was made before the cancellation and is found later still
         *     pays the payment.
         *
         *     Every other status is 409, `CANCELLED` included. So is a payment that is another merchant's or does not exist, and a text that
         *     can be no id: the answer does not tell which.
         *
         *     **Not idempotent**: repeating it is 409. After a 503, read the payment before you try again: it may be cancelled.
         *
         *     **Counts** toward *Cancellation* (60 / 60 s), 409 included.
         */
        post: operations["cancelPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{payment_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a payment
         * @description The latest state of a payment, the transfers that may be for it and do not pay it, and warnings.
         *
         *     On a wallet that several payments share, nobody can know whose a transfer is when its amount is not exact or it came late. So
         *     `unmatched_transfers` lists what **may** be for this payment, and `candidate_count` says how many payments each may be for. It
         *     does not list a transfer that is exactly the amount of another payment that waited on this wallet. Look at each item together
         *     with the customer before you accept it.
         *
         *     Another merchant's payment is 404, with the same bytes as one that does not exist. **Counts** toward *Reads* (120 / 60 s), the
         *     404 included.
         */
        get: operations["getPaymentDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{payment_id}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prove a payment
         * @description What proves that a `PAID` payment was paid, for anybody who trusts the hash of one block: the header of the block, the receipts
         *     of the transactions, and the branches of the receipts trie that lead to them. `npx quittance-verify` and `verifyProof` in the
         *     SDK check it without Quittance. The guide's page *Prove a payment* has more.
         *
         *     It does not prove what the chain does not contain: the payment's id, description and times.
         *
         *     409 `proof_unavailable` says in `detail` why there is none: the payment is not `PAID`; blocks of its network cannot be proven;
         *     the transfers were confirmed before proofs were kept, or a receipt is larger than 64 KiB; transfers in several blocks, or more
         *     than 7, pay the payment. Payments that were archived are 404: get the proof before, and keep it.
         *
         *     Another merchant's payment is 404, with the same bytes as one that does not exist. **Counts** toward *Reads* (120 / 60 s), the
         *     404 and the 409 included.
         */
        get: operations["getPaymentProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{payment_id}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how the events of a payment are delivered
         * @description The delivery records of a payment's events, at most 100: `PAID` first, then the others that you chose to get, newest first. The
         *     list is empty while the payment has no event. Neither your URL nor the body nor a key is part of a record.
         *
         *     A payment that is another merchant's or does not exist is 404. **Counts** toward *Reads* (120 / 60 s), the 404 included.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/{public_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the public status of a payment
         * @description What a customer who holds the checkout link may see of that one payment. It needs no key, and a key that is sent changes nothing.
         *
         *     **Counts** by token (120 / 60 s), shared by everybody who looks at this payment; a token that does not exist is counted, too. The
         *     hosted checkout page asks about every 4 seconds while the payment is `PENDING` or `CHECKING`.
         */
        get: operations["getPublicStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get all payments of a span of time at once
         * @description Your payments, oldest first, as one stream of any length: as CSV for a spreadsheet or your bookkeeping, or as ndjson, one payment a
         *     line, for programs. Without `created_to` up to now, without `created_from` from 366 days before that, which is also the most.
         *
         *     Every payment that was created before the request is in it, once, as it is when its line is written; what is created meanwhile is not.
         *     A stream that cannot be finished breaks the connection instead of ending, so treat an error of your HTTP client as *incomplete* and ask
         *     again; ndjson also ends with a line that counts the payments, `{"end":1007}`. Read it as it comes: a reader that stands still for ten
         *     seconds is disconnected.
         *
         *     CSV follows RFC 4180, in UTF-8 with a header line. Columns may be added; go by their names. `bom=1` puts a byte order mark first:
         *     without it, Excel reads letters such as `ä` wrongly.
         *
         *     A spreadsheet must not run what a customer wrote. So an apostrophe stands before each `=`, `+`, `-` and `@` (and `＝`, `＋`, `－`, `＠`)
         *     that begins a cell. Spreadsheets of other locales split cells where yours does not: the beginning is also what follows a comma,
         *     semicolon, tab or line break inside a cell. Blanks, invisible characters and double quotes before the sign make no difference.
         *     `Tea;=1+1` becomes `Tea;'=1+1`, and `-5` becomes `'-5`. To get the exact text back, remove one apostrophe in each of these places;
         *     what had one already has two. Ndjson has the exact text.
         *
         *     A spreadsheet that opens CSV with a double click rewrites what looks like a number or a date: an `order_id` of `00123` becomes 123, one
         *     of `12E4` becomes 120000, one of `1-2` becomes a day, digits after the fifteenth become zeros, and where the decimal separator is a comma
         *     `10.5` becomes a day in May. Import the file instead (in Excel: *Data*, *From Text/CSV*): columns of ids as text, amounts with the locale
         *     English. Nothing rewrites a `reference`, which has digits between letters; only of the payments that were made before this was so, one in
         *     7,000 has a reference that looks like a number.
         *
         *     One at a time: a second one is 429, with `Retry-After`. **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["exportPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payments/page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Go through all payments, page by page
         * @description Your payments, newest first. To get the next page, repeat the request with the `next_cursor` of this one as `cursor`; it is
         *     `null` on the last page. Payments created meanwhile shift nothing: no page repeats or leaves out a payment.
         *
         *     A payment is listed when it fits all filters that are given; keep them the same from page to page. The order is that of
         *     creation, also with `paid_from` and `paid_to`. Query parameters that are not listed here are ignored. **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["pagePayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the exchange rates
         * @description The rates that would convert a `price` to USDT now, and why other currencies have none. Both lists name all currencies that prices may
         *     have. Where the operator has not configured any source, no currency has a rate.
         *
         *     **Counts** toward *Reads* (120 / 60 s).
         */
        get: operations["readRates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    notice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Something else you chose to be told
         * @description Events of other types come to the same endpoint, signed, answered and repeated like `PAID`, when you chose them with
         *     `PUT /api/v1/merchant/webhook`. They have the same fields, those of a transfer null where there is none, and `event_type`:
         *
         *     | `event_type` | When | `status` |
         *     |---|---|---|
         *     | `payment.checking` | the money was seen and is being confirmed; once for each transfer that does so | `CHECKING` |
         *     | `payment.expired` | nobody paid in time; once | `EXPIRED` |
         *     | `payment.cancelled` | you cancelled it; once | `CANCELLED` |
         *     | `transfer.unmatched` | a transfer is confirmed that does not pay by itself; once for each transfer | `UNMATCHED` |
         *
         *     None of them is a reason to deliver goods: only an event with `"status":"PAID"` is. `PAID` may follow `payment.expired` and
         *     `payment.cancelled`: the money came in time and was found late, or somebody accepted it. The other way round does not happen: once
         *     a payment is `PAID`, none of the first three is sent for it any more, and one that was still waiting is `failed` with
         *     `error_category` `superseded`.
         *
         *     `transfer.unmatched` has `candidates`, your payments that the transfer may be for, at most 20. With exactly one,
         *     `payment_id`, `expected_amount` and `description` are those of that payment; with several or none they are null. `reason`
         *     `ambiguous` means that the amount is exact and the time leaves it open which payment is meant. When another merchant has a payment
         *     that it may be for, `candidates_elsewhere` is true. Transfers below a hundredth of every amount that the wallet was asked for are
         *     left out, and a wallet has at most 60 such events an hour.
         *
         *     `payment.expired` has `candidate_transfers` when there are transfers that may be for the payment.
         */
        post: operations["receiveNotice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    paymentPaid: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment is paid
         * @description Once a payment is `PAID`, we `POST` this to your endpoint. A payment has exactly one such event; its id and its bytes never change,
         *     however often it is sent. It alone ever says `"status":"PAID"`.
         *
         *     ### Verify it before you believe it
         *
         *     1. Take the body's **raw bytes**, before any JSON parser has seen them.
         *     2. Refuse a timestamp that is not all digits, that has more than 12 of them, or that is more than 300 seconds away from your
         *        clock, in either direction.
         *     3. Choose the key by `X-Service-Key-ID`. The whole text is the key, `whsec_` and a final `=` included.
         *     4. Compute `v1=` and the lowercase hex of HMAC-SHA256 over the timestamp as it was sent, a dot, and the raw body. Compare it with
         *        `X-Service-Signature` in constant time.
         *     5. Parse the body. Check that its `event_id` equals `X-Service-Event-ID`, that the payment is one of yours, and that amount and
         *        status are what you expect.
         *
         *     An example to test your code with:
         *
         *     ```
         *     signing key  whsec_ThisIsAnExampleKeyThisIsAnExampleKeyThisIsA=
         *     timestamp    1773480662
         *     raw body     {"event_id":"evt_019cebaf559b7aa382198a5397d53d3c","payment_id":"pay_019cebab8995701a9de3af47eaf6360b","status":"PAID","expected_amount":"10.50","transaction_id":"1b5b9ccb3e8d006a5230de9bda23ff91edc794d4f56410560830b418528e446c","transaction_event_index":7,"description":"Order 1007"}
         *     signature    v1=7e1d8989a6f801320d2812ce231e304d30b2a9af5e13dee6ea2e392fbf4159f1
         *     standard     v1,Ou73m/gm776eDKCNuQpKZDReQz2bgo7KWQsyc/2bIx4=
         *     ```
         *
         *     A [Standard Webhooks](https://www.standardwebhooks.com) library verifies the three `webhook-` headers with the same key instead of
         *     steps 2 to 4. A key of 0.2.0 or earlier cannot be read by these libraries, and its deliveries have no such headers: rotate it.
         *
         *     ### Answer it
         *
         *     Any 2xx means that you have it; nothing else does. Answer within 15 seconds, and do slow work later. **Save `event_id` together
         *     with what you do about it**, in one transaction: an event comes again when your answer gets lost, and then the right answer is a
         *     2xx without doing it twice. Also deliver the goods only once for each order, whatever events say.
         *
         *     Redirects count as failures and are not followed. After a failure we try again up to eight times, normally after 5 seconds,
         *     1 minute, 5 minutes, 30 minutes, 2, 8, 20 and 40 hours, each shortened or stretched by up to a fifth. A `Retry-After` of yours
         *     can stretch a pause up to the length of the next one. When the last retry fails too, the event is `failed`, and you can start
         *     over with `POST /api/v1/merchant/webhook/events/{event_id}/retry`. A failed delivery never changes the payment: when in doubt,
         *     read it.
         *
         *     While your endpoint answers nothing but failures, 50 in a row over 10 seconds or more, or 500 at any speed, what becomes due
         *     waits without losing attempts. One event at a time is tried, about once a minute in the end, and the first 2xx lets the others
         *     follow. Once it has answered nothing but failures for longer than all pauses together and three days more, events as old as
         *     that are `failed`.
         */
        post: operations["receivePaymentPaid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description The color of buttons and links, `#` and six hex digits. Where text in it would be hard to read, the page makes it darker or lighter.
         *     `null` for the page's own color.
         */
        AccentColor: string | null;
        /**
         * @description Why no payment may be created. When several reasons hold, it is the first in this order.
         * @enum {string}
         */
        AccessCode: "account_inactive" | "creation_paused" | "beta_not_activated" | "beta_expired" | "total_quota_exhausted" | "daily_quota_exhausted";
        /** @description Why your account may not create payments now. */
        AccessError: {
            code: components["schemas"]["AccessCode"];
            detail: {
                code: components["schemas"]["AccessCode"];
                /** @description For people. */
                message: string;
            };
        };
        /** @description Decimal text above zero (`0` and `0.00` are no amounts), at most 12 digits before the point and 6 after it. */
        Amount: string;
        /** @description Your payments that a transfer may be for; empty when it pays a payment, or none can be meant. */
        Candidates: components["schemas"]["PaymentId"][];
        Counts: {
            cancelled: number;
            created: number;
            expired: number;
            paid: number;
            paid_amount: components["schemas"]["Sum"];
            paid_prices: components["schemas"]["PaidPrices"];
        };
        /** @description What your account may create, and what is used of it. It holds no credentials. */
        CreationLimits: {
            /**
             * @description `beta` has a time window, `legacy` has none.
             * @enum {string}
             */
            access_type: "beta" | "legacy";
            /** @description How long the beta lasts; null for legacy. */
            beta_duration_days: number | null;
            /** @description Null for legacy, and until the beta is activated. */
            beta_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description Null for legacy, and until the beta is activated. */
            beta_started_at: components["schemas"]["Timestamp"] | null;
            /**
             * @description Whether the account may create a payment right now: it is active, not paused, inside its beta, and has quota left. It does not cover
             *     what a creation needs besides: a webhook endpoint, a wallet that is yours, a free amount on it, and room in the rate limits.
             */
            creation_allowed: boolean;
            /** @description Why not; null when it may. */
            creation_block_reason: components["schemas"]["AccessCode"] | null;
            /** @description False while creation is paused for the account. */
            creation_enabled: boolean;
            /** @description Payments left this UTC day; null without a daily cap. */
            daily_left: number | null;
            /** @description Payments allowed in a UTC day; null without a daily cap. */
            daily_limit: number | null;
            /** @description When the next UTC day begins. */
            daily_reset_at: components["schemas"]["Timestamp"];
            /** @description Payments created this UTC day. */
            daily_used: number;
            /** @description Your authenticated request before this one; null if this is the first. */
            last_api_request_at: components["schemas"]["Timestamp"] | null;
            /** @description Payments ever created, those before the beta included. */
            lifetime_requests_used: number;
            merchant_id: components["schemas"]["MerchantId"];
            /** @description Payments left of them. */
            requests_left: number;
            /** @description Payments created of them. */
            requests_used: number;
            /** @description What time it is for us. */
            server_time: components["schemas"]["Timestamp"];
            /**
             * @description Of the account as a whole.
             * @enum {string}
             */
            status: "active" | "blocked";
            /** @description Payments allowed in all; for a beta, in its package. */
            total_limit: number;
        };
        Cursor: string;
        DeliveryList: {
            deliveries: components["schemas"]["DeliveryRecord"][];
        };
        /** @description How the delivery of one event is doing. */
        DeliveryRecord: {
            /** @description Attempts of this cycle that ended; a manual retry begins again at 0. */
            attempts: number;
            /** @description When the event was made. */
            created_at: components["schemas"]["Timestamp"];
            /** @description When you answered 2xx, else null. */
            delivered_at: components["schemas"]["Timestamp"] | null;
            /** @description Why the latest attempt of this cycle failed; null before a failure and after delivery. */
            error_category: components["schemas"]["ErrorCategory"] | null;
            event_id: components["schemas"]["EventId"];
            /** @description Null for `PAID`. */
            event_type: components["schemas"]["EventType"] | null;
            /**
             * @description When the latest attempt that has ended was begun, of any cycle; null until the first has ended. It changes when an attempt
             *     ends, not when one begins.
             */
            last_attempt_at: components["schemas"]["Timestamp"] | null;
            /**
             * @description When the next attempt is due; null when there will be none. It lies in the past while the event waits for its turn. While an
             *     attempt is being made, it is the moment from which that one would count as cut off and be repeated, about 45 seconds after
             *     it was taken up.
             */
            next_attempt_at: components["schemas"]["Timestamp"] | null;
            /** @description Null for a transfer that may be for several payments or for none. */
            payment_id: components["schemas"]["PaymentId"] | null;
            /**
             * @description `pending`: an attempt is to come, or is being made right now. `delivered`: you answered 2xx. `failed`: the last retry failed,
             *     or your endpoint was down for longer than all of them, and you can start over; or `PAID` took its place (`superseded`).
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
        } & ({
            delivered_at: null;
            error_category: string | null;
            next_attempt_at: string;
            /** @constant */
            status: "pending";
        } | {
            delivered_at: string;
            error_category: null;
            next_attempt_at: null;
            /** @constant */
            status: "delivered";
        } | {
            delivered_at: null;
            error_category: string;
            next_attempt_at: null;
            /** @constant */
            status: "failed";
        });
        /**
         * @description 1 to 60 characters after Unicode NFC, without control characters and without those that turn the direction of writing;
         *     `null` for no name. At least one character is visible: blanks, fillers such as U+3164 and U+2800, and accents alone are not.
         */
        DisplayName: string | null;
        EdgeRateLimitError: {
            /** @constant */
            code: "rate_limited";
            /** @constant */
            detail: "Too many requests";
        };
        /**
         * @description The sites that may show the checkout page in a frame: at most 10 origins as browsers send them, with `https` and without a path.
         *     An installation that is itself reached by `http:` also accepts `http://localhost` and `http://127.0.0.1`. No other site can. `null`
         *     for none.
         */
        EmbedOrigins: string[] | null;
        /** @description The address, and the networks on which its rest ended. */
        EndedRest: {
            address: components["schemas"]["Wallet"];
            networks: string[];
        };
        /** @description Your endpoint, public HTTPS on port 443. */
        EndpointUrl: string;
        /**
         * @description | Value | What happened |
         *     |---|---|
         *     | `dns_error` | the host's name could not be resolved, or leads to an address that is not public |
         *     | `connect_refused` | nobody listens on port 443 |
         *     | `connect_timeout` | no connection within 5 seconds |
         *     | `connection_reset` | the connection broke |
         *     | `network_unreachable` | there is no way to the address |
         *     | `tls_error` | no secure connection; often an expired or incomplete certificate |
         *     | `response_timeout` | no answer within 15 seconds |
         *     | `protocol_error` | the answer was no HTTP |
         *     | `redirect` | you answered 3xx |
         *     | `http_4xx`, `http_5xx` | you answered with an error |
         *     | `interrupted` | the attempt was cut off on our side; it is repeated and not counted |
         *     | `superseded` | taken back before it was sent, because the payment is `PAID`; it cannot be retried |
         * @enum {string}
         */
        ErrorCategory: "dns_error" | "connect_refused" | "connect_timeout" | "connection_reset" | "network_unreachable" | "tls_error" | "response_timeout" | "protocol_error" | "redirect" | "http_4xx" | "http_5xx" | "interrupted" | "superseded";
        /**
         * @description What programs go by; the table under *Errors* says which status has which. `AccessCode`, `invalid_request`, `rate_limited` and
         *     `unavailable` have schemas of their own.
         * @enum {string}
         */
        ErrorCode: "bad_request" | "unauthorized" | "not_found" | "method_not_allowed" | "request_timeout" | "payment_unfinished" | "wallet_of_another_merchant" | "webhook_not_configured" | "idempotency_conflict" | "cancel_unavailable" | "event_not_retryable" | "transfer_not_acceptable" | "wallet_pool_exhausted" | "wallet_in_use" | "wallet_dedicated" | "proof_unavailable" | "body_too_large" | "headers_too_large" | "internal_error" | "rate_unavailable";
        /** @description The event's id, the same however often it is sent. */
        EventId: string;
        /**
         * @description Of an event that is not `PAID`.
         * @enum {string}
         */
        EventType: "payment.checking" | "payment.expired" | "payment.cancelled" | "transfer.unmatched";
        FoundTransfer: {
            /** @description What it carries, in USDT. A token with more decimals than six may carry more of them. */
            amount: string;
            block_number: number;
            /** @description The time of its block. */
            block_timestamp: components["schemas"]["Timestamp"];
            candidates: components["schemas"]["Candidates"];
            /** @description Whether another merchant has a payment that it may be for. Then only an operator can accept it. */
            candidates_elsewhere: boolean;
            /** @description Your wallet, to which it went. */
            merchant_wallet: components["schemas"]["Wallet"];
            /** @description The network that it is on. */
            network: string;
            /** @description The payment that it pays. With a `reason`, the only payment that it may be for; null when there are several or none. */
            payment_id: string | null;
            /**
             * @description Why it does not pay, as in `unmatched_transfers`; null when it pays a payment, and when no payment can be meant.
             * @enum {unknown}
             */
            reason: "underpaid" | "overpaid" | "late" | "after_cancel" | "duplicate" | "ambiguous" | null;
            /** @description From where it came. */
            sender: components["schemas"]["Wallet"];
            /**
             * @description `seen` in a block; `confirmed`, so that it stays; `retracted`: its block is no longer in the chain.
             * @enum {unknown}
             */
            state: "seen" | "confirmed" | "retracted";
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            transaction_id: components["schemas"]["TransactionId"];
            /**
             * @description What a seen one still needs to be confirmed, else null.
             * @enum {unknown}
             */
            waiting_for: "confirmations" | "finality" | "second_endpoint" | null;
        };
        FoundTransfers: {
            /** @description For people, in English. */
            explanation: string;
            /**
             * @description - `pays_payment`: it pays a payment of yours, or does as soon as it is confirmed.
             *     - `unmatched`: it reached your wallet and pays nothing.
             *     - `not_your_wallet`: it brought no USDT to a wallet of yours.
             *     - `other_token`: it brought something else to your wallet.
             *     - `failed`: it failed on chain and moved nothing.
             *     - `pending`: no block that stands has it.
             *     - `unknown`: it was not found on any enabled network.
             *     - `not_read_yet`: it is not read, or could not be looked up, yet; ask again.
             * @enum {unknown}
             */
            explanation_code: "pays_payment" | "unmatched" | "not_your_wallet" | "other_token" | "failed" | "pending" | "unknown" | "not_read_yet";
            /** @description Those that reached your wallets and that we have read. */
            transfers: components["schemas"]["FoundTransfer"][];
        };
        /** @description An error in words. */
        GeneralError: {
            code: components["schemas"]["ErrorCode"];
            /** @description For people. */
            detail: string;
        };
        /** @description The signing key's id, sent with every event in `X-Service-Key-ID`. */
        KeyId: string;
        /**
         * @description A PNG file in base64, with padding: at most 32 KiB and 1,024 × 1,024 pixels. Metadata and animation are dropped. It is shown beside
         *     `display_name`, and not without it. `null` for none.
         */
        Logo: string | null;
        /** @description Your merchant id. */
        MerchantId: string;
        /** @description Your own names and values, at most 20 of them and 4,096 bytes as JSON. A name has 1 to 40 letters, digits, `_`, `.` and `-`, and is not `__proto__`, `constructor` or `prototype`. A value is text of at most 500 characters without U+0000. Only you can read it. Do not include personal data. */
        Metadata: {
            [key: string]: string;
        };
        NewApiKey: {
            /** @description Your API key from now on. */
            new_api_key: string;
        };
        NewSigningKey: {
            key_id: components["schemas"]["KeyId"];
            signing_key: components["schemas"]["SigningKey"];
        };
        /** @description The prices in other currencies of the paid payments, their sum for each currency as exact decimal text. */
        PaidPrices: {
            [key: string]: string;
        };
        /** @description A payment. */
        Payment: {
            /** @description The part of `amount` that is enough, in percent, if you sent one below 100; otherwise null. */
            accept_from_percent: number | null;
            /** @description The amount to send: the one that you sent, or the unique amount that replaces it. */
            amount: components["schemas"]["Amount"];
            /** @description When you cancelled it, or null. It stays if the payment is paid later. */
            cancelled_at: components["schemas"]["Timestamp"] | null;
            /** @description When the payment was created, and its payment window begins. The time of the block decides whether a transfer is in the window, not the time at which we saw it. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * @description Always USDT.
             * @constant
             */
            currency: "USDT";
            /** @description Whether the payment has its address for itself, so that all transfers to it count together. */
            dedicated: boolean;
            /** @description Which child of the extended key of its wallet pool the address is; otherwise null. */
            derivation_index: number | null;
            /** @description Your text, in Unicode NFC. */
            description: string;
            /** @description When the payment window ends. */
            expires_at: components["schemas"]["Timestamp"];
            /** @description The address that receives the money; an EVM address with its EIP-55 checksum. */
            merchant_wallet: components["schemas"]["Wallet"];
            /** @description As you sent it; an empty object if you sent none. */
            metadata: components["schemas"]["Metadata"];
            /** @description The network on which the customer pays. */
            network: string;
            /** @description Your id for the order, as you sent it, or null. */
            order_id: string | null;
            /** @description When it became `PAID`, or null. */
            paid_at: components["schemas"]["Timestamp"] | null;
            payment_id: components["schemas"]["PaymentId"];
            /**
             * Format: uri
             * @description The checkout page for your customer. The last segment of the URL is the public token, which can only read this payment.
             */
            payment_url: string;
            /** @description The price, as you sent it, or null. */
            price: components["schemas"]["Price"] | null;
            /** @description The rate that converted the price when the payment was created; null without a price. */
            rate: components["schemas"]["Rate"] | null;
            /** @description The sum of the confirmed transfers to the address of a dedicated payment, in USDT; null for other payments. */
            received_amount: string | null;
            /** @description A short name of the payment that your customer can read out to you. The checkout page shows it. It has digits and capital letters without I, L, O and U. */
            reference: string;
            /** @description The amount that you sent, or that your price was converted to. */
            requested_amount: components["schemas"]["Amount"];
            /**
             * Format: uri
             * @description The link back to your shop, as you sent it, or null.
             */
            return_url: string | null;
            status: components["schemas"]["PaymentStatus"];
            /** @description The transfer that pays it, in `CHECKING` and `PAID`; otherwise null. In `CHECKING` it may briefly be null, if a reorganisation of the chain removes the transfer. */
            transaction: components["schemas"]["PaymentTransaction"] | null;
        } & components["schemas"]["PaymentByStatus"];
        /** @description Which of the fields of a payment are null in which status. */
        PaymentByStatus: {
            cancelled_at: null;
            paid_at: null;
            /** @enum {unknown} */
            status: "PENDING" | "EXPIRED";
            transaction: null;
        } | {
            cancelled_at: null;
            paid_at: null;
            /** @constant */
            status: "CHECKING";
            transaction: Record<string, never> | null;
        } | {
            cancelled_at: string | null;
            paid_at: string;
            /** @constant */
            status: "PAID";
            transaction: Record<string, never>;
        } | {
            cancelled_at: string;
            paid_at: null;
            /** @constant */
            status: "CANCELLED";
            transaction: null;
        };
        /** @description The payment to create. Unknown fields are refused. */
        PaymentCreation: {
            /**
             * @description Only for a payment with an address of its own: the part of `amount` that is enough, in percent. When the transfers to the address add up to it, the payment is `PAID`.
             * @default 100
             */
            accept_from_percent?: number;
            /** @description The amount in USDT, as decimal text: greater than zero, at most 12 digits before the point and 6 after it, without sign, exponent or leading zeros. On a wallet that payments share, only a transfer of exactly this amount pays the payment. Instead of it, `price` may be sent. */
            amount?: string;
            /**
             * @description Gives this payment the address in `merchant_wallet` for itself: all transfers to it count together, whatever their amounts. While the payment is unfinished, and for 24 hours after its end, no other payment can be created on the address (409, `wallet_dedicated`). If a payment on it is unfinished or rests, or another kind of payment was on it in the last 30 days, the answer is 409 with the code `wallet_in_use`. Payments of a `wallet_pool` are always dedicated.
             * @default false
             */
            dedicated_wallet?: boolean;
            /** @description Shown on the checkout page and repeated in events: 1 to 500 characters in Unicode NFC, without control characters and characters that reorder text. Anyone with the link can read it: do not include personal data or secrets. */
            description: string;
            /** @description How many seconds the payment waits for its transfer. If omitted, the default of the installation applies. The installation also sets the minimum and the maximum, usually 300 and 86,400. */
            expires_in?: number;
            /** @description The address that receives the money; instead of it, `wallet_pool` may be sent. An EVM address must be all lowercase, all uppercase, or have a valid EIP-55 checksum; responses have the checksum. The zero address, the USDT contract, and addresses of networks that this installation does not watch are rejected. */
            merchant_wallet?: string;
            metadata?: components["schemas"]["Metadata"];
            /** @description The network on which the customer pays. If omitted, it follows from the address; for an EVM address it is the installation's default network. A wallet pool has its own network. */
            network?: string;
            /** @description Your id for the order: 1 to 128 characters, none of them invisible or a control character, not necessarily unique. Only you can read it, in the payment and its events; it is not on the checkout page or in the public status. */
            order_id?: string;
            /** @description What the customer owes in another currency, instead of `amount`. The service converts it to USDT when the payment is created, by the rate that `GET /rates` shows then, and rounds up to cents. The result is in `amount` and `requested_amount`, and the rate stays with the payment: a repeated request gets the first one. While there is no rate, the answer is 503 with the code `rate_unavailable`, and nothing is stored. */
            price?: components["schemas"]["Price"];
            /**
             * Format: uri
             * @description The link back to your shop, which the checkout page shows in every state of the payment: an absolute `https:` URL of at most 2,000 characters, without credentials, white space, control characters and backslashes. We never fetch it. An installation that is itself reached by `http:` also accepts `http://localhost` and `http://127.0.0.1`.
             */
            return_url?: string;
            /**
             * @description Lets several customers pay the same price to the same address at the same time. The service adds less than 0.01 USDT, and never zero. `amount` is then what your customer must send, with four decimals, or six if all 99 amounts with four are in use; `requested_amount` is what you sent. The `amount` that you send may have at most two decimals.
             *
             *     An amount is not used again until 24 hours after its payment ended, so that a late transfer does not pay the next customer's payment. Abandoned carts therefore use up amounts: keep `expires_in` short, cancel payments that nobody will pay, or use more wallets. If no amount is free, the answer is 409.
             *
             *     Do not mix payments with and without `unique_amount` on one address: while a payment of one kind is unfinished, a payment of the other kind for the same price is refused with 409. A customer who omits the last digits has paid too little, and pays no other payment.
             * @default false
             */
            unique_amount?: boolean;
            /** @description The name of one of your wallet pools, instead of `merchant_wallet`. The payment gets an address of the pool for itself, as with `dedicated_wallet`. If no address is free, the answer is 409 with the code `wallet_pool_exhausted`. */
            wallet_pool?: string;
        } & ((unknown | unknown) & (unknown | unknown));
        /** @description A payment, the transfers that may be for it, and warnings. */
        PaymentDetails: {
            accept_from_percent: components["schemas"]["Payment"]["accept_from_percent"];
            amount: components["schemas"]["Payment"]["amount"];
            cancelled_at: components["schemas"]["Payment"]["cancelled_at"];
            created_at: components["schemas"]["Payment"]["created_at"];
            currency: components["schemas"]["Payment"]["currency"];
            dedicated: components["schemas"]["Payment"]["dedicated"];
            derivation_index: components["schemas"]["Payment"]["derivation_index"];
            description: components["schemas"]["Payment"]["description"];
            expires_at: components["schemas"]["Payment"]["expires_at"];
            merchant_wallet: components["schemas"]["Payment"]["merchant_wallet"];
            metadata: components["schemas"]["Payment"]["metadata"];
            network: components["schemas"]["Payment"]["network"];
            order_id: components["schemas"]["Payment"]["order_id"];
            paid_at: components["schemas"]["Payment"]["paid_at"];
            payment_id: components["schemas"]["Payment"]["payment_id"];
            payment_url: components["schemas"]["Payment"]["payment_url"];
            price: components["schemas"]["Payment"]["price"];
            rate: components["schemas"]["Payment"]["rate"];
            received_amount: components["schemas"]["Payment"]["received_amount"];
            reference: components["schemas"]["Payment"]["reference"];
            requested_amount: components["schemas"]["Payment"]["requested_amount"];
            return_url: components["schemas"]["Payment"]["return_url"];
            status: components["schemas"]["Payment"]["status"];
            transaction: components["schemas"]["Payment"]["transaction"];
            /** @description The transfers to the address of a dedicated payment, in the order of the chain; the newest 100 if there are more. Empty for other payments. */
            transfers: components["schemas"]["ReceivedTransfer"][];
            /** @description Newest first, at most 100. */
            unmatched_transfers: components["schemas"]["UnmatchedTransfer"][];
            /**
             * @description Problems that delay or block the money.
             *     - `wallet_blacklisted`: the issuer of the token has frozen this wallet, so money that arrives cannot be sent on. The checkout page tells the customer not to pay.
             *     - `network_unreadable`: the network cannot be read at the moment. Transfers are noticed later, and none is lost.
             */
            warnings: ("wallet_blacklisted" | "network_unreadable")[];
        } & components["schemas"]["PaymentByStatus"];
        /** @description The payment's id. */
        PaymentId: string;
        PaymentList: {
            /** @description Newest first. */
            payments: components["schemas"]["Payment"][];
        };
        PaymentPage: {
            /** @description For the next page; null on the last one. */
            next_cursor: components["schemas"]["Cursor"] | null;
            /** @description Newest first. */
            payments: components["schemas"]["Payment"][];
        };
        /** @description Shows that a payment was paid, to anybody who trusts the hash of one block. Hex is lowercase with 0x. */
        PaymentProof: {
            block: {
                /** @description With 0x. Compare it with a source that you trust. */
                hash: string;
                /** @description The header as RLP. Its Keccak-256 is the hash of the block. */
                header: string;
                number: number;
                timestamp: components["schemas"]["Timestamp"];
            };
            chain_id: number;
            /** @description How we knew that the block is final. The proof does not prove it. */
            finality: {
                /** @description How many nodes showed the block as final, at least. */
                agreed_by: number;
                /** @description The confirmations of the block when the payment became `PAID`. */
                confirmations: number;
                /**
                 * @description What the network requires of a block: a number of confirmations, or that the chain calls it final too.
                 * @enum {string}
                 */
                rule: "confirmations" | "finalized";
            };
            payment: {
                /** @description What the transfers add up to, in USDT. Only if the payment counts as paid with less than `amount`: by its `accept_from_percent`, or because a person accepted a transfer. */
                accepted_amount?: string;
                /** @description The amount to send: the one that you sent, or the unique amount that replaces it. */
                amount: components["schemas"]["Amount"];
                /** @description When the payment was created, and its payment window begins. The time of the block decides whether a transfer is in the window, not the time at which we saw it. */
                created_at: components["schemas"]["Timestamp"];
                /** @description Your text, in Unicode NFC. */
                description: string;
                /** @description The address that receives the money; an EVM address with its EIP-55 checksum. */
                merchant_wallet: components["schemas"]["Wallet"];
                /** @description The network on which the customer pays. */
                network: string;
                /** @description When it became `PAID`. */
                paid_at: components["schemas"]["Timestamp"];
                payment_id: components["schemas"]["PaymentId"];
            };
            /** @description One entry for each transfer that pays the payment. All are in the same block. */
            receipts: {
                /** @description The position of the transaction in its block, from 0. */
                index: number;
                log_index: components["schemas"]["TransactionEventIndex"];
                /** @description The branch of the receipts trie, from its root to the leaf of the receipt. */
                nodes: string[];
                /** @description The receipt as the trie has it: RLP, after the byte of its type. */
                rlp: string;
                transaction_id: components["schemas"]["TransactionId"];
            }[];
            /** @description The contract of the token, in lowercase. */
            token: string;
            /** @constant */
            version: 1;
        };
        /**
         * @description - `PENDING`: waits for the money.
         *     - `CHECKING`: the money is seen on the chain, and not final yet. It can go back to `PENDING` when the chain is reorganised.
         *     - `PAID`: the money is there, finally.
         *     - `EXPIRED`: the time is over. Should it turn out that the money was sent in time, it becomes `PAID` after all.
         *     - `CANCELLED`: you cancelled it. Money that was sent before still makes it `PAID`.
         *
         *     `PENDING` and `CHECKING` are called unfinished.
         * @enum {string}
         */
        PaymentStatus: "PENDING" | "CHECKING" | "PAID" | "EXPIRED" | "CANCELLED";
        /** @description The transfer that pays a payment. */
        PaymentTransaction: {
            /** @description Whether a person accepted it. False if its amount and time decided. */
            accepted: boolean;
            /** @description The amount transferred, in USDT, without trailing zeros. It differs from the amount of the payment only if the transfer was accepted. */
            amount: string;
            /** @description The block that contains it. */
            block_number: number;
            /** @description The timestamp of that block. */
            block_timestamp: components["schemas"]["Timestamp"];
            /** @description The number of blocks that confirm it, as far as known now. */
            confirmations: number;
            /** @description The number of confirmations that this network requires. */
            confirmations_required: number;
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            transaction_id: components["schemas"]["TransactionId"];
            /** @description What the payment needs before it becomes `PAID`. `confirmations`: more blocks. `finality`: the network must declare the block final, which is required for large amounts, and on some networks for all. `second_endpoint`: a second node must report the transfer or its block, which is required for large amounts, and on some networks for all. Null if the payment is `PAID`, or if nothing is missing. */
            waiting_for: ("confirmations" | "finality" | "second_endpoint") | null;
        };
        /** @description A price in a currency other than USDT. */
        Price: {
            /** @description Decimal text above zero, with at most 12 digits before the point and as many after it as the currency has in ISO 4217. */
            amount: string;
            /**
             * @description ISO 4217: the euro, or a currency with a reference rate of the European Central Bank.
             * @enum {string}
             */
            currency: "AUD" | "BRL" | "CAD" | "CHF" | "CNY" | "CZK" | "DKK" | "EUR" | "GBP" | "HKD" | "HUF" | "IDR" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MXN" | "MYR" | "NOK" | "NZD" | "PHP" | "PLN" | "RON" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR";
        };
        /** @description What customers see of your account. */
        Profile: {
            accent_color: components["schemas"]["AccentColor"];
            display_name: components["schemas"]["DisplayName"];
            embed_origins: components["schemas"]["EmbedOrigins"];
            logo: components["schemas"]["Logo"];
            support_email: components["schemas"]["SupportEmail"];
            support_url: components["schemas"]["SupportUrl"];
        };
        /** @description What customers shall see of your account. Fields that are left out stay as they are. */
        ProfileChange: {
            accent_color?: components["schemas"]["AccentColor"];
            display_name?: components["schemas"]["DisplayName"];
            embed_origins?: components["schemas"]["EmbedOrigins"];
            logo?: components["schemas"]["Logo"];
            support_email?: components["schemas"]["SupportEmail"];
            support_url?: components["schemas"]["SupportUrl"];
        };
        /** @description Everything that the public token shows. It never has the transaction, which would show the address of the payer to anyone with the link. */
        PublicPayment: {
            amount: components["schemas"]["Payment"]["amount"];
            currency: components["schemas"]["Payment"]["currency"];
            description: components["schemas"]["Payment"]["description"];
            expires_at: components["schemas"]["Payment"]["expires_at"];
            merchant_wallet: components["schemas"]["Payment"]["merchant_wallet"];
            network: components["schemas"]["Payment"]["network"];
            status: components["schemas"]["Payment"]["status"];
        };
        /** @description The rate of a price in another currency. */
        Rate: {
            /** @description The time of the oldest price of an exchange that it is made of. */
            as_of: components["schemas"]["Timestamp"];
            /** @description What it is made of. The rate is 1 divided by the median price of the exchanges and by the value of `ecb`, where it is part of it, rounded to six digits. */
            sources: {
                as_of: components["schemas"]["Timestamp"];
                /** @enum {string} */
                name: "bitstamp" | "coinbase" | "kraken" | "ecb";
                /** @description As the source publishes it. Of an exchange: the price of one USDT in euros, or in dollars if the price is in dollars. Of `ecb`: how much of the currency one euro costs. */
                value: string;
            }[];
            /** @description USDT for one unit of the currency. */
            value: string;
        };
        RateLimitError: {
            /** @constant */
            code: "rate_limited";
            /** @constant */
            detail: "Rate limit exceeded";
        };
        RatesInForce: {
            /** @description In the order of the currencies. */
            rates: {
                as_of: components["schemas"]["Rate"]["as_of"];
                currency: string;
                sources: components["schemas"]["Rate"]["sources"];
                value: components["schemas"]["Rate"]["value"];
            }[];
            /** @description The other currencies that prices may have. */
            unavailable: {
                currency: string;
                /**
                 * @description - `too_old`: no source has answered lately, or the bank missed a publication.
                 *     - `too_few`: fewer than two exchanges have answered lately, or the bank has no rate.
                 *     - `too_far_apart`: the exchanges disagree.
                 *     - `jumped`: the rate changed by more than 20 percent, and not every source confirms it.
                 * @enum {string}
                 */
                reason: "too_old" | "too_few" | "too_far_apart" | "jumped";
            }[];
        };
        /** @description A transfer to the address of a dedicated payment. */
        ReceivedTransfer: {
            /** @description The amount transferred, in USDT. */
            amount: string;
            /** @description The time of its block. */
            block_timestamp: components["schemas"]["Timestamp"];
            /** @description Whether it has the confirmations that the network requires. */
            confirmed: boolean;
            /** @description Whether it pays the payment together with others, or will. False if it came too late, or after `PAID`. */
            counts: boolean;
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            transaction_id: components["schemas"]["TransactionId"];
        };
        Report: {
            /** @description By period, then by network. */
            rows: components["schemas"]["ReportRow"][];
            totals: components["schemas"]["Counts"];
        };
        ReportRow: {
            cancelled: number;
            created: number;
            expired: number;
            network: string;
            paid: number;
            paid_amount: components["schemas"]["Sum"];
            paid_prices: components["schemas"]["PaidPrices"];
            /** @description The UTC day or month, such as 2026-03-31 or 2026-03. */
            period: string;
        };
        /**
         * @description The key that signs your events: `whsec_` and 32 bytes in standard base64. Keys of 0.2.0 and earlier are in base64url without
         *     padding. It is shown only now, so keep it where secrets are kept.
         */
        SigningKey: string;
        /** @description What the transfers carried, exact decimal text in USDT. */
        Sum: string;
        /** @description Where customers write to, one address without a name. Their e-mail has the payment's reference as its subject. `null` for none. */
        SupportEmail: string | null;
        /**
         * Format: uri
         * @description Where customers ask you about a payment, a URL with the rules of `return_url`. `null` for none.
         */
        SupportUrl: string | null;
        /**
         * Format: date-time
         * @description A moment in UTC.
         */
        Timestamp: string;
        /** @description The position of the Transfer event in the full log list of the transaction's receipt. Several transfers may share a transaction. */
        TransactionEventIndex: number;
        /** @description The blockchain transaction, 64 hexadecimal characters without `0x`. */
        TransactionId: string;
        /** @description Names one transfer on the payment's network, and says how many payments it may be for. */
        TransferChoice: {
            /**
             * @description The `candidate_count` that you were shown. Required when the transfer may be for several payments: it says that a person knows
             *     of the others and has decided. When the number has changed meanwhile, the answer is 409.
             */
            confirm_candidates?: number;
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            /** @description As explorers show it, with or without `0x`, in any case. */
            transaction_id: string;
        };
        UnavailableError: {
            /** @enum {unknown} */
            code: "unavailable" | "rate_unavailable";
            /** @description For people. */
            detail: string;
        };
        /** @description A transfer that does not pay by itself. */
        UnmatchedMoney: {
            /** @description What the transfer carried, in USDT. */
            amount: string;
            /** @description The time of its block. */
            block_timestamp: components["schemas"]["Timestamp"];
            /** @description Your wallet that received it. */
            merchant_wallet: string;
            /** @description The network on which it arrived. */
            network: string;
            /**
             * @description Why it does not pay, as in `unmatched_transfers`; null when no payment can be meant.
             * @enum {unknown}
             */
            reason: "underpaid" | "overpaid" | "late" | "after_cancel" | "duplicate" | "ambiguous" | null;
        };
        /** @description A transfer to the wallet that may be for this payment but does not pay it. Ask the customer whether they sent it; then accept it, send the money back, or leave it. */
        UnmatchedTransfer: {
            /** @description The amount transferred, in USDT. */
            amount: string;
            /** @description The time of its block. */
            block_timestamp: components["schemas"]["Timestamp"];
            /** @description The number of payments that it may be for, including this one. If it is 2 or more, accepting the transfer requires `confirm_candidates`. */
            candidate_count: number;
            /**
             * @description - `underpaid`, `overpaid`: less or more than the amount of this payment.
             *     - `late`: the exact amount, but outside the time of this payment, usually after it expired.
             *     - `after_cancel`: the exact amount, after you cancelled the payment.
             *     - `duplicate`: another transfer pays this payment, or is about to.
             *     - `ambiguous`: the exact amount, but its time fits this payment and others of the same amount. It pays none of them by itself.
             *     - `paid_another`: it paid a later payment of the same amount, and arrived within an hour after this one ended. It cannot be accepted for this payment. It is listed because its sender may be the customer of this payment.
             * @enum {string}
             */
            reason: "underpaid" | "overpaid" | "late" | "after_cancel" | "duplicate" | "ambiguous" | "paid_another";
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            transaction_id: components["schemas"]["TransactionId"];
        };
        /** @description What is wrong with the input, field by field. */
        ValidationError: {
            /** @constant */
            code: "invalid_request";
            detail: components["schemas"]["ValidationItem"][];
        };
        ValidationItem: {
            /** @description The field, parameter or header; `body` when the body as a whole cannot be read. */
            field: string;
            /** @description For people. */
            reason: string;
        };
        /** @description An EVM address (`0x` and 40 hexadecimal digits) or a Tron address (`T…`). */
        Wallet: string;
        /** @description A named set of addresses, each of which is for one payment at a time. */
        WalletPool: {
            created_at: components["schemas"]["Timestamp"];
            /** @description The first three addresses, for comparing them with your wallet. */
            first_addresses: components["schemas"]["Wallet"][];
            /** @description How many addresses of a list can be given now; null for a key. */
            free: number | null;
            /**
             * @description Whether it has a list of addresses or an extended public key.
             * @enum {unknown}
             */
            kind: "list" | "xpub";
            name: string;
            /** @description The network on which customers pay. */
            network: string;
            /** @description The lowest index of a key that was not given yet; null for a list. */
            next_index: number | null;
            /** @description Addresses of this request that belong to other merchants and were left out. Empty when a pool is read. */
            refused: components["schemas"]["Wallet"][];
            /** @description For how long an address is not given again after its payment ended. */
            rest_seconds: number;
            /** @description The number of addresses of a list; null for a key. */
            size: number | null;
        };
        /** @description Either a list of addresses, or an extended public key with its first address. */
        WalletPoolChange: {
            /** @description Addresses of the network, as for `merchant_wallet` of a payment. Repeated ones count once. */
            addresses?: components["schemas"]["Wallet"][];
            /**
             * @description Whether to add the addresses to the list instead of replacing it.
             * @default false
             */
            append?: boolean;
            /** @description The first address of this account, 0/0, as your wallet shows it. */
            expect_first_address?: components["schemas"]["Wallet"];
            /** @description The network on which customers pay. */
            network: string;
            /**
             * @description For how long an address is not given again after its payment ended. Without it a pool keeps what it has, and a new one gets a
             *     day. A short rest gives late money to the next customer.
             */
            rest_seconds?: number;
            /** @description The extended public key of an account (BIP-32, depth 3), `xpub…`. Never send a private key. */
            xpub?: string;
        } & (unknown | unknown);
        WalletPools: {
            pools: components["schemas"]["WalletPool"][];
        };
        /** @description What you are told; `PAID` is always among it. */
        WebhookChoice: ("PAID" | "CHECKING" | "EXPIRED" | "CANCELLED" | "TRANSFER_UNMATCHED")[];
        /** @description The endpoint as it is set now. `signing_key` is there the first time only. */
        WebhookConfigured: {
            events: components["schemas"]["WebhookChoice"];
            key_id: components["schemas"]["KeyId"];
            signing_key?: components["schemas"]["SigningKey"];
            url: components["schemas"]["EndpointUrl"];
        };
        WebhookEndpoint: {
            events?: components["schemas"]["WebhookChoice"];
            url: components["schemas"]["EndpointUrl"];
        };
        /**
         * @description The body of a PAID event. `order_id`, `metadata` and `requested_amount` are there where the payment has them, `accepted` and
         *     `transfer` where somebody accepted the transfer, `received_amount` and `transfers` where the payment has its address for itself.
         */
        WebhookEvent: {
            /**
             * @description Present when the transfer pays because you or an operator accepted it, and not by its amount and time.
             * @constant
             */
            accepted?: true;
            /** @description The payment's description. */
            description: string;
            event_id: components["schemas"]["EventId"];
            /** @description The payment's amount. */
            expected_amount: components["schemas"]["Amount"];
            metadata?: components["schemas"]["Metadata"];
            /** @description As you sent it. */
            order_id?: string;
            payment_id: components["schemas"]["PaymentId"];
            price?: components["schemas"]["Price"];
            /** @description The rate that converted the price, if there is one. */
            rate?: components["schemas"]["Rate"];
            /** @description Present for a dedicated payment. The sum of the transfers that pay it, in USDT. */
            received_amount?: string;
            /** @description The amount that you sent, if `expected_amount` is a unique amount. */
            requested_amount?: components["schemas"]["Amount"];
            /**
             * @description The payment's status.
             * @constant
             */
            status: "PAID";
            transaction_event_index: components["schemas"]["TransactionEventIndex"];
            transaction_id: components["schemas"]["TransactionId"];
            /** @description What was accepted; present with `accepted`. Its `amount` may differ from `expected_amount`. */
            transfer?: components["schemas"]["UnmatchedMoney"];
            /** @description Present with `received_amount`. Those transfers, in the order of the chain; the newest 100 if there are more. */
            transfers?: {
                /** @description The amount transferred, in USDT. */
                amount: string;
                transaction_event_index: components["schemas"]["TransactionEventIndex"];
                transaction_id: components["schemas"]["TransactionId"];
            }[];
        };
        /** @description The body of an event of another type than PAID. */
        WebhookNotice: {
            /**
             * @description Of `payment.expired` alone: how many transfers may be for this payment and do not pay it. With one or more, look at the payment's
             *     details before you release the order.
             */
            candidate_transfers?: number;
            /** @description Of `transfer.unmatched` alone. */
            candidates?: components["schemas"]["Candidates"];
            /**
             * @description Of `transfer.unmatched` alone, and only there when it is so: another merchant has a payment that it may be for. That merchant
             *     gets an event of its own, and only an operator can accept the transfer.
             * @constant
             */
            candidates_elsewhere?: true;
            /** @description The payment's description. */
            description: string | null;
            event_id: components["schemas"]["EventId"];
            event_type: components["schemas"]["EventType"];
            /** @description The payment's amount. */
            expected_amount: components["schemas"]["Amount"] | null;
            metadata?: components["schemas"]["Metadata"];
            /** @description As you sent it. */
            order_id?: string;
            /** @description Null, like `expected_amount` and `description`, for a transfer that may be for several payments or for none. */
            payment_id: components["schemas"]["PaymentId"] | null;
            price?: components["schemas"]["Price"];
            /** @description The rate that converted the price, if there is one. */
            rate?: components["schemas"]["Rate"];
            /** @description The amount that you sent, if `expected_amount` is a unique amount. */
            requested_amount?: components["schemas"]["Amount"];
            /**
             * @description The payment's status, or `UNMATCHED`.
             * @enum {string}
             */
            status: "CHECKING" | "EXPIRED" | "CANCELLED" | "UNMATCHED";
            transaction_event_index: components["schemas"]["TransactionEventIndex"] | null;
            transaction_id: components["schemas"]["TransactionId"] | null;
            /** @description Of `transfer.unmatched` alone, the money that came. */
            transfer?: components["schemas"]["UnmatchedMoney"];
        };
        WebhookSettings: {
            /** @description When an endpoint was first set. */
            created_at: components["schemas"]["Timestamp"];
            events: components["schemas"]["WebhookChoice"];
            key_id: components["schemas"]["KeyId"];
            /** @description When URL, choice or key last changed. */
            updated_at: components["schemas"]["Timestamp"];
            url: components["schemas"]["EndpointUrl"];
        };
        /** @description What came of one attempt to deliver a test event. */
        WebhookTest: {
            /** @description Whether your endpoint answered 2xx. */
            delivered: boolean;
            /** @description From the look-up of the host's name to the end of the answer, in milliseconds. */
            duration_ms: number;
            /** @description Why it counts as failed; null for a 2xx. */
            error_category: components["schemas"]["ErrorCategory"] | null;
            event_id: components["schemas"]["EventId"];
            /** @description What it answered; null when there was no answer. */
            http_status: number | null;
        };
    };
    responses: {
        /** @description The request cannot be understood as HTTP, or has no `Host`. */
        BadRequest: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description The limit for your IP address is exceeded. There is no `Retry-After`, and the body may be HTML. */
        EdgeTooManyRequests: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["EdgeRateLimitError"];
                "text/html": string;
            };
        };
        /** @description The headers are too large, one of them (8 KiB) or all together. */
        HeadersTooLarge: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description The path exists but accepts other methods. */
        MethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description There is nothing at this path. Upper and lower case, and a slash at the end, make a difference. */
        NotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description The body is larger than 64 KiB. This goes for every operation, even one that needs no body. */
        PayloadTooLarge: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description There is no such payment, or it is not yours to see. */
        PaymentNotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description The request took too long to arrive. */
        RequestTimeout: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /**
         * @description Something we need does not answer, so we cannot say whether the request took effect. Pause, longer each time; *After a 503*
         *     says for each operation how to go on.
         */
        ServiceUnavailable: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnavailableError"];
            };
        };
        /**
         * @description Too many requests. Either a limit of the application is exceeded, then `Retry-After` says when to come back and the text is
         *     `Rate limit exceeded`; or that of our edge for your IP address, then there is no `Retry-After` and the body may be HTML.
         */
        TooManyRequests: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RateLimitError"] | components["schemas"]["EdgeRateLimitError"];
                "text/html": string;
            };
        };
        /** @description The API key is missing or invalid, or the account is blocked. */
        Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
        /** @description The address is longer than 8 KiB. */
        UriTooLong: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralError"];
            };
        };
    };
    parameters: {
        /**
         * @description Only payments created at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
         * @example 2026-03-01T00:00:00Z
         */
        CreatedFrom: string;
        /**
         * @description Only payments created before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
         * @example 2026-04-01T00:00:00+02:00
         */
        CreatedTo: string;
        /**
         * @description Your name for this creation, 1 to 255 visible ASCII characters (no spaces). A UUID for each order is a good choice.
         * @example 6f0c7f0e-3d0b-4c8e-9a57-1f1d9d0d5a11
         */
        IdempotencyKey: string;
        /**
         * @description Only payments to this wallet.
         * @example 0x8ba1f109551bD432803012645Ac136ddd64DBA72
         */
        MerchantWallet: string;
        /**
         * @description Only payments on this network.
         * @example ethereum
         */
        Network: string;
        /**
         * @description Only payments with this `order_id`.
         * @example 1007
         */
        OrderId: string;
        /**
         * @description Only payments that became `PAID` at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
         * @example 2026-03-01T00:00:00Z
         */
        PaidFrom: string;
        /**
         * @description Only payments that became `PAID` before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
         * @example 2026-04-01T00:00:00+02:00
         */
        PaidTo: string;
        /**
         * @description The payment.
         * @example pay_019cebab8995701a9de3af47eaf6360b
         */
        PaymentId: components["schemas"]["PaymentId"];
        /**
         * @description Your name for the pool.
         * @example shop
         */
        PoolName: string;
        /**
         * @description Only the payment with this reference, as a customer reads it out; `I` and `L` are taken for `1`, `O` for `0`, in either case.
         * @example 8ZNFCDGB
         */
        Reference: string;
        /**
         * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
         * @example order-1007.try-1
         */
        RequestId: string;
        /**
         * @description The event's id again, for Standard Webhooks libraries. Absent under a signing key of 0.2.0 or earlier.
         * @example evt_019cebaf559b7aa382198a5397d53d3c
         */
        StandardWebhookId: components["schemas"]["EventId"];
        /**
         * @description `v1,` and the base64 HMAC-SHA256 of the id, a dot, the timestamp, a dot and the raw body. Its key is the base64-decoded part of the
         *     signing key after `whsec_`. Absent when `webhook-id` is.
         * @example v1,Ou73m/gm776eDKCNuQpKZDReQz2bgo7KWQsyc/2bIx4=
         */
        StandardWebhookSignature: string;
        /**
         * @description The value of `X-Service-Timestamp`. Absent when `webhook-id` is.
         * @example 1773480662
         */
        StandardWebhookTimestamp: string;
        /**
         * @description Only payments with this status.
         * @example PAID
         */
        Status: components["schemas"]["PaymentStatus"];
        /**
         * @description Only payments that a transfer in this transaction pays or is about to pay. With or without `0x`.
         * @example 27ca64c092a959c7edc525ed45e845b1de6a7590d173fd2fad9133c8a779a1e3
         */
        TransactionId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The methods that this path accepts.
         * @example POST, GET, HEAD
         */
        Allow: string;
        /**
         * @description A name for the file.
         * @example attachment; filename="payments.csv"
         */
        ContentDisposition: string;
        /**
         * @description There, and `true`, when this is the saved answer of an earlier request.
         * @example true
         */
        IdempotencyReplayed: "true";
        /**
         * @description Answers hold credentials and states that change, so they must not be cached.
         * @example no-store
         */
        NoStore: "no-store";
        /**
         * @description The name of this request, yours if you sent one.
         * @example order-1007.try-1
         */
        RequestId: string;
        /**
         * @description Whole seconds until the window ends. Always there when your own limit is exceeded, never when it is that of our edge.
         * @example 42
         */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getLimits: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The limits. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreationLimits"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What customers see. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    putProfile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProfileChange"];
            };
        };
        responses: {
            /**
             * @description What customers see from now on. The name is in Unicode NFC, the color in lower case, and the logo has lost everything that is not
             *     needed to show it.
             */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description The name has no visible character, or the body is invalid. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readReport: {
        parameters: {
            query: {
                /**
                 * @description When a payment counts as paid. `payment`, the day of its `paid_at`; `chain`, the day of its transfer's block.
                 * @example chain
                 */
                by?: "payment" | "chain";
                /**
                 * @description The first UTC day.
                 * @example 2026-03-01
                 */
                from: string;
                /**
                 * @description What a row is about.
                 * @example month
                 */
                group?: "day" | "month";
                /**
                 * @description The last UTC day; it is included.
                 * @example 2026-03-31
                 */
                to: string;
            };
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description A parameter is invalid, and nothing was counted; or there would be too many rows. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new key. Nobody can show it again. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description The rotation secret is missing or invalid, or the account is blocked. */
            401: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    findTransfers: {
        parameters: {
            query: {
                /**
                 * @description As explorers show it, with or without `0x`, in any case.
                 * @example 0x8a0d55b44b0bdb5b2ec1a94a5ed67f8d9bc6a0b0e2a1c5d3f4e7968574635241
                 */
                transaction_id: string;
            };
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundTransfers"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description The transaction is not named as it must be. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWalletPools: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pools. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletPools"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWalletPool: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Your name for the pool.
                 * @example shop
                 */
                name: components["parameters"]["PoolName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pool. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletPool"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description You have no pool of this name. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    putWalletPool: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Your name for the pool.
                 * @example shop
                 */
                name: components["parameters"]["PoolName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WalletPoolChange"];
            };
        };
        responses: {
            /** @description The pool as it is now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalletPool"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The key belongs to another merchant. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            /** @description The pool cannot be made like this. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    endWalletRest: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The address.
                 * @example 0x8ba1f109551bD432803012645Ac136ddd64DBA72
                 */
                address: components["schemas"]["Wallet"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rest has ended. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedRest"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description No payment of yours makes this address rest. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSettings"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description No endpoint has been set yet. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    putWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint is set. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookConfigured"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description The URL cannot be used, or the body is not what it should be. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retryEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The event, from its delivery record.
                 * @example evt_019cebaf559b7aa382198a5397d53d3c
                 */
                event_id: components["schemas"]["EventId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new cycle has started; this is the current record. */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryRecord"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description You have no such event. */
            404: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            /** @description The event is pending, delivered or superseded. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateSigningKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new key. Nobody can show it again. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSigningKey"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description There is no endpoint yet, so there is no key to replace. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result of the attempt. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description There is no endpoint yet. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPayments: {
        parameters: {
            query?: {
                /**
                 * @description Only payments to this wallet.
                 * @example 0x8ba1f109551bD432803012645Ac136ddd64DBA72
                 */
                merchant_wallet?: components["parameters"]["MerchantWallet"];
                /**
                 * @description Only payments on this network.
                 * @example ethereum
                 */
                network?: components["parameters"]["Network"];
                /**
                 * @description Only payments with this `order_id`.
                 * @example 1007
                 */
                order_id?: components["parameters"]["OrderId"];
                /**
                 * @description Only payments that became `PAID` at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-03-01T00:00:00Z
                 */
                paid_from?: components["parameters"]["PaidFrom"];
                /**
                 * @description Only payments that became `PAID` before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-04-01T00:00:00+02:00
                 */
                paid_to?: components["parameters"]["PaidTo"];
                /**
                 * @description Only the payment with this reference, as a customer reads it out; `I` and `L` are taken for `1`, `O` for `0`, in either case.
                 * @example 8ZNFCDGB
                 */
                reference?: components["parameters"]["Reference"];
                /**
                 * @description Only payments with this status.
                 * @example PAID
                 */
                status?: components["parameters"]["Status"];
                /**
                 * @description Only payments that a transfer in this transaction pays or is about to pay. With or without `0x`.
                 * @example 27ca64c092a959c7edc525ed45e845b1de6a7590d173fd2fad9133c8a779a1e3
                 */
                transaction_id?: components["parameters"]["TransactionId"];
            };
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payments. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description A parameter is invalid; nothing was counted. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createPayment: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Your name for this creation, 1 to 255 visible ASCII characters (no spaces). A UUID for each order is a good choice.
                 * @example 6f0c7f0e-3d0b-4c8e-9a57-1f1d9d0d5a11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentCreation"];
            };
        };
        responses: {
            /** @description The payment was created now, or earlier by a request with this key; then it is the answer of that time, byte for byte. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description Your account may not create payments now. `code` says why; the codes are checked in the order of this list. */
            403: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessError"];
                };
            };
            /** @description The payment cannot be created in the current state. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            /** @description Invalid input. Every invalid field is listed; nothing was counted. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    acceptTransfer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The payment.
                 * @example pay_019cebab8995701a9de3af47eaf6360b
                 */
                payment_id: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransferChoice"];
            };
        };
        responses: {
            /** @description The payment, `PAID` by this transfer. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PaymentNotFound"];
            /** @description The transfer cannot be accepted for this payment; the text says why. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            /** @description The transfer is not named as it must be, or the number of candidates is no integer from 1 to 20. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelPayment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The payment.
                 * @example pay_019cebab8995701a9de3af47eaf6360b
                 */
                payment_id: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment, cancelled. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The payment cannot be cancelled, or it is not yours. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPaymentDetails: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The payment.
                 * @example pay_019cebab8995701a9de3af47eaf6360b
                 */
                payment_id: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentDetails"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PaymentNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPaymentProof: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The payment.
                 * @example pay_019cebab8995701a9de3af47eaf6360b
                 */
                payment_id: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The proof. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentProof"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PaymentNotFound"];
            /** @description There is no proof of this payment. */
            409: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneralError"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The payment.
                 * @example pay_019cebab8995701a9de3af47eaf6360b
                 */
                payment_id: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery records. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PaymentNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPublicStatus: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description The last segment of `payment_url`. Whoever knows it may read this, so treat it like the link.
                 * @example PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A
                 */
                public_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicPayment"];
                };
            };
            404: components["responses"]["PaymentNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    exportPayments: {
        parameters: {
            query?: {
                /**
                 * @description `1`: CSV begins with a byte order mark, by which spreadsheets know that it is UTF-8. Ndjson never has one.
                 * @example 1
                 */
                bom?: "0" | "1";
                /**
                 * @description Only payments created at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-03-01T00:00:00Z
                 */
                created_from?: components["parameters"]["CreatedFrom"];
                /**
                 * @description Only payments created before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-04-01T00:00:00+02:00
                 */
                created_to?: components["parameters"]["CreatedTo"];
                /**
                 * @description How payments are written.
                 * @example csv
                 */
                format?: "csv" | "ndjson";
                /**
                 * @description Only payments with this status.
                 * @example PAID
                 */
                status?: components["parameters"]["Status"];
            };
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description A parameter is invalid; nothing was counted. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    pagePayments: {
        parameters: {
            query?: {
                /**
                 * @description Only payments created at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-03-01T00:00:00Z
                 */
                created_from?: components["parameters"]["CreatedFrom"];
                /**
                 * @description Only payments created before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-04-01T00:00:00+02:00
                 */
                created_to?: components["parameters"]["CreatedTo"];
                /**
                 * @description The `next_cursor` of the page before. Its content is ours; do not make one yourself.
                 * @example MTc3MzQyMzkyMDMwMC5wYXlfMDE5Y2U4NGQ4NGFjNzJmNDhmYzNmZTk0YjI4OGZhYzE
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Payments on a page, 1 to 100.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only payments to this wallet.
                 * @example 0x8ba1f109551bD432803012645Ac136ddd64DBA72
                 */
                merchant_wallet?: components["parameters"]["MerchantWallet"];
                /**
                 * @description Only payments on this network.
                 * @example ethereum
                 */
                network?: components["parameters"]["Network"];
                /**
                 * @description Only payments with this `order_id`.
                 * @example 1007
                 */
                order_id?: components["parameters"]["OrderId"];
                /**
                 * @description Only payments that became `PAID` at this moment or later. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-03-01T00:00:00Z
                 */
                paid_from?: components["parameters"]["PaidFrom"];
                /**
                 * @description Only payments that became `PAID` before this moment. RFC 3339 with any offset; a `+` is written `%2B`.
                 * @example 2026-04-01T00:00:00+02:00
                 */
                paid_to?: components["parameters"]["PaidTo"];
                /**
                 * @description Only the payment with this reference, as a customer reads it out; `I` and `L` are taken for `1`, `O` for `0`, in either case.
                 * @example 8ZNFCDGB
                 */
                reference?: components["parameters"]["Reference"];
                /**
                 * @description Only payments with this status.
                 * @example PAID
                 */
                status?: components["parameters"]["Status"];
                /**
                 * @description Only payments that a transfer in this transaction pays or is about to pay. With or without `0x`.
                 * @example 27ca64c092a959c7edc525ed45e845b1de6a7590d173fd2fad9133c8a779a1e3
                 */
                transaction_id?: components["parameters"]["TransactionId"];
            };
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            /** @description Invalid parameters, all of them listed; nothing was counted. */
            422: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationError"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readRates: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name of yours for this request, which the answer and our logs repeat. Anything else than 1 to 64 of these characters is replaced.
                 * @example order-1007.try-1
                 */
                "X-Request-ID"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rates. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-ID": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RatesInForce"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    receiveNotice: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The event's id again, for Standard Webhooks libraries. Absent under a signing key of 0.2.0 or earlier.
                 * @example evt_019cebaf559b7aa382198a5397d53d3c
                 */
                "webhook-id"?: components["parameters"]["StandardWebhookId"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of the id, a dot, the timestamp, a dot and the raw body. Its key is the base64-decoded part of the
                 *     signing key after `whsec_`. Absent when `webhook-id` is.
                 * @example v1,Ou73m/gm776eDKCNuQpKZDReQz2bgo7KWQsyc/2bIx4=
                 */
                "webhook-signature"?: components["parameters"]["StandardWebhookSignature"];
                /**
                 * @description The value of `X-Service-Timestamp`. Absent when `webhook-id` is.
                 * @example 1773480662
                 */
                "webhook-timestamp"?: components["parameters"]["StandardWebhookTimestamp"];
                /**
                 * @description The event's id, the same on every attempt.
                 * @example evt_019cebaf559b7aa382198a5397d53d3c
                 */
                "X-Service-Event-ID": components["schemas"]["EventId"];
                /**
                 * @description Which of your signing keys made the signature.
                 * @example whk_019b92f6b380782bbe9b51c79d69442d
                 */
                "X-Service-Key-ID": components["schemas"]["KeyId"];
                /**
                 * @description `v1=` and the hex HMAC-SHA256 of timestamp, dot and raw body. New on every attempt.
                 * @example v1=7e1d8989a6f801320d2812ce231e304d30b2a9af5e13dee6ea2e392fbf4159f1
                 */
                "X-Service-Signature": string;
                /**
                 * @description When this attempt was made, in Unix seconds. New on every attempt.
                 * @example 1773480662
                 */
                "X-Service-Timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookNotice"];
            };
        };
        responses: {
            /** @description You have the event. The body is not looked at. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; redirects are not followed. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; the event is sent again later. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; the event is sent again later. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receivePaymentPaid: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The event's id again, for Standard Webhooks libraries. Absent under a signing key of 0.2.0 or earlier.
                 * @example evt_019cebaf559b7aa382198a5397d53d3c
                 */
                "webhook-id"?: components["parameters"]["StandardWebhookId"];
                /**
                 * @description `v1,` and the base64 HMAC-SHA256 of the id, a dot, the timestamp, a dot and the raw body. Its key is the base64-decoded part of the
                 *     signing key after `whsec_`. Absent when `webhook-id` is.
                 * @example v1,Ou73m/gm776eDKCNuQpKZDReQz2bgo7KWQsyc/2bIx4=
                 */
                "webhook-signature"?: components["parameters"]["StandardWebhookSignature"];
                /**
                 * @description The value of `X-Service-Timestamp`. Absent when `webhook-id` is.
                 * @example 1773480662
                 */
                "webhook-timestamp"?: components["parameters"]["StandardWebhookTimestamp"];
                /**
                 * @description The event's id, the same on every attempt.
                 * @example evt_019cebaf559b7aa382198a5397d53d3c
                 */
                "X-Service-Event-ID": components["schemas"]["EventId"];
                /**
                 * @description Which of your signing keys made the signature.
                 * @example whk_019b92f6b380782bbe9b51c79d69442d
                 */
                "X-Service-Key-ID": components["schemas"]["KeyId"];
                /**
                 * @description `v1=` and the hex HMAC-SHA256 of timestamp, dot and raw body. New on every attempt.
                 * @example v1=7e1d8989a6f801320d2812ce231e304d30b2a9af5e13dee6ea2e392fbf4159f1
                 */
                "X-Service-Signature": string;
                /**
                 * @description When this attempt was made, in Unix seconds. New on every attempt.
                 * @example 1773480662
                 */
                "X-Service-Timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description You have the event. The body is not looked at. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; redirects are not followed. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; the event is sent again later. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A failure; the event is sent again later. */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
