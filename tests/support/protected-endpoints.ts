import { randomUUID } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { HttpCall } from './http.ts';

export type Endpoint = { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string; call: HttpCall };

const paymentId = newId('pay');

const pool = { network: 'local', addresses: [newWallet()] };

const creation = { amount: '1', merchant_wallet: newWallet(), description: 'Made once at most' };

/** The endpoints that need X-API-Key, each with a valid request, so that only the key can be refused. */
export const protectedEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/api/v1/payments',
    call: { headers: { 'Idempotency-Key': randomUUID() }, body: creation },
  },
  { method: 'GET', path: '/api/v1/payments', call: {} },
  { method: 'GET', path: '/api/v1/payments/page', call: {} },
  { method: 'GET', path: '/api/v1/payments/export', call: {} },
  { method: 'GET', path: '/api/v1/merchant/report?from=2026-01-01&to=2026-01-01', call: {} },
  { method: 'GET', path: `/api/v1/payments/${paymentId}/details`, call: {} },
  { method: 'POST', path: `/api/v1/payments/${paymentId}/cancel`, call: {} },
  { method: 'GET', path: `/api/v1/payments/${paymentId}/proof`, call: {} },
  { method: 'GET', path: `/api/v1/payments/${paymentId}/webhooks`, call: {} },
  { method: 'POST', path: `/api/v1/merchant/webhook/events/${newId('evt')}/retry`, call: {} },
  { method: 'GET', path: '/api/v1/merchant/limits', call: {} },
  { method: 'PUT', path: '/api/v1/merchant/webhook', call: { body: { url: 'https://never.example.com/hooks' } } },
  { method: 'GET', path: '/api/v1/merchant/webhook', call: {} },
  { method: 'POST', path: '/api/v1/merchant/webhook/rotate-key', call: {} },
  { method: 'POST', path: '/api/v1/merchant/webhook/test', call: {} },
  { method: 'GET', path: '/api/v1/merchant/wallet-pools', call: {} },
  { method: 'GET', path: '/api/v1/merchant/wallet-pools/none', call: {} },
  { method: 'PUT', path: '/api/v1/merchant/wallet-pools/shop', call: { body: pool } },
  { method: 'DELETE', path: `/api/v1/merchant/wallet-rests/${newWallet()}`, call: {} },
];
