import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from './http.ts';

export type Registration = {
  access_type: 'beta' | 'legacy';
  total_limit?: number | undefined;
  daily_limit?: number | null;
  beta_duration_days?: number;
};

/** This is the only answer with these credentials. */
export type Registered = { merchant_id: string; api_key: string; rotation_secret: string };

/** Registers a merchant, with a legacy account and a large quota unless `access` says otherwise, and waits until quota knows it. */
export async function registerMerchant(
  stack: StackFile,
  name: string,
  access: Partial<Registration> = {},
): Promise<Registered> {
  const registration = { name, access_type: 'legacy', total_limit: 100_000, ...access };
  const registered = await asOperator<Registered>(stack, 'POST', '/merchants', registration);
  // This takes a moment after the registration, and longer after an outage of the broker. Until then, limits and creations are 503.
  await eventually(() => asQuotaOperator(stack, 'GET', `/merchants/${registered.merchant_id}/policy`));
  return registered;
}

/** An operator's request to the gateway, without the edge. @throws Error unless it succeeds. */
export async function asOperator<T>(stack: StackFile, method: string, path: string, body?: object): Promise<T> {
  return operatorCall<T>(stack, 'api-gateway', method, path, body);
}

/** The same to quota, which owns access and limits. */
export async function asQuotaOperator<T>(stack: StackFile, method: string, path: string, body?: object): Promise<T> {
  return operatorCall<T>(stack, 'quota', method, path, body);
}

async function operatorCall<T>(stack: StackFile, service: ServiceName, method: string, path: string, body?: object) {
  const answer = await send(method, `${stack.services[service].url}/internal/v1${path}`, {
    headers: callAs(stack, service),
    ...(body !== undefined && { body: { actor: 'tests', reason: 'a test of the whole system', ...body } }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
  return answer.json<T>();
}
