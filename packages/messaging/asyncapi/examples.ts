const merchant_id = 'mer_0192f0c1a2b37c4d8e5f60718293a4b5';
const payment_id = 'pay_0192f0c1d4e57f608192a3b4c5d6e7f8';
const network = 'ethereum';
const recipient = '0x52908400098527886E0F7030069857D2E4169EE7';
const transaction_id = '9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b';

/**
 * One story, message by message: a merchant registers, is activated, sets up a webhook, and is paid. A test checks each example against its
 * schema.
 */
export const examples = {
  MerchantRegistered: {
    merchant_id,
    name: 'Corner Bookshop',
    access_type: 'beta',
    total_limit: 1000,
    daily_limit: 100,
    beta_duration_days: 30,
    registered_at: '2026-01-05T09:00:00.000Z',
  },
  MerchantStatusChanged: {
    merchant_id,
    status: 'blocked',
    status_version: 2,
    changed_at: '2026-02-01T16:20:00.000Z',
  },
  AccessChanged: {
    merchant_id,
    policy_version: 2,
    access_type: 'beta',
    account_active: true,
    creation_paused: false,
    beta_duration_days: 30,
    beta_started_at: '2026-01-05T09:30:00.000Z',
    beta_expires_at: '2026-02-04T09:30:00.000Z',
    total_limit: 1000,
    daily_limit: null,
    package_number: 1,
    changed_at: '2026-01-05T09:30:00.000Z',
  },
  WebhookConfigured: { merchant_id, configured_at: '2026-01-05T09:45:10.250Z' },
  PaymentCreated: {
    payment_id,
    merchant_id,
    network,
    recipient,
    amount: '10.50',
    created_at: '2026-01-05T10:00:00.000Z',
    expires_at: '2026-01-05T10:30:00.000Z',
  },
  TransferObserved: {
    merchant_id,
    network,
    transaction_id,
    transaction_event_index: 4,
    block_number: 24_100_512,
    block_hash: '0x1f2e3d4c5b6a79880796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
    block_timestamp: '2026-01-05T10:02:11.000Z',
    from: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    to: recipient,
    amount_units: '10500000',
    decimals: 6,
    phase: 'confirmed',
    version: 2,
    confirmations: 12,
    confirmations_required: 12,
  },
  PaymentPaid: {
    payment_id,
    merchant_id,
    expected_amount: '10.50',
    transaction_id,
    transaction_event_index: 4,
    description: 'Order 1042',
    paid_at: '2026-01-05T10:04:35.120Z',
  },
  NoticeRaised: {
    merchant_id,
    event_type: 'transfer.unmatched',
    payment_id,
    expected_amount: '10.50',
    description: 'Order 1042',
    transaction_id,
    transaction_event_index: 4,
    order_id: '1042',
    transfer: {
      amount: '10',
      reason: 'underpaid',
      network,
      merchant_wallet: recipient,
      block_timestamp: '2026-01-05T10:01:47.000Z',
    },
  },
  PaymentClosed: {
    payment_id,
    merchant_id,
    network,
    recipient,
    status: 'PAID',
    closed_at: '2026-01-05T10:04:35.120Z',
  },
  RatesObserved: {
    observed_at: '2026-01-05T10:00:00.250Z',
    quotes: [
      { source: 'kraken', currency: 'EUR', value: '0.86120', as_of: '2026-01-05T10:00:00.120Z' },
      { source: 'ecb', currency: 'JPY', value: '178.56', as_of: '2026-01-02T14:00:00.000Z' },
    ],
  },
};
