import type { AccessPolicy, CreationLimits } from '@quittance/contracts/access.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { send } from '../../support/http.ts';
import { inDatabase } from '../../support/database.ts';
import { asQuotaOperator, type Registration } from '../../support/operator.ts';
import { type Merchant } from '../../support/merchant.ts';

/** A beta registered without a total, so that the standard applies. JSON leaves the undefined total out. */
export const standardBeta = { access_type: 'beta', total_limit: undefined } satisfies Registration;

/** An operator's changes to a merchant's access: activate, pause, resume, limits, extend or move-to-beta. */
export async function changeAccess(
  stack: StackFile,
  { merchantId }: Merchant,
  action: string,
  body: object = {},
): Promise<AccessPolicy> {
  const policy = await asQuotaOperator<AccessPolicy>(stack, 'POST', `/merchants/${merchantId}/${action}`, body);
  await untilGate(stack, merchantId, (gate) => gate.policy_version >= policy.policy_version);
  return policy;
}

/** Waits until payments enforces a decision about a merchant, as the operator's commands do. */
export async function untilGate(
  stack: StackFile,
  merchantId: string,
  isReached: (gate: AccessPolicy) => boolean,
): Promise<void> {
  await eventually(async () => {
    const answer = await send('GET', `${stack.services.payments.url}/internal/v1/merchants/${merchantId}/gate`, {
      headers: callAs(stack, 'payments'),
    });
    if (answer.status !== 200 || !isReached(answer.json<AccessPolicy>())) throw new Error(`not yet: ${answer.text}`);
  });
}

export async function limitsOf(merchant: Merchant): Promise<CreationLimits> {
  const answer = await merchant.call('GET', '/api/v1/merchant/limits');
  if (answer.status !== 200) throw new Error(`limits answered ${answer.status} ${answer.text}`);
  return answer.json<CreationLimits>();
}

/** Moves a merchant's beta days into the past. */
export async function passBetaDays(stack: StackFile, { merchantId }: Merchant, days: number): Promise<void> {
  for (const table of ['quota.policy', 'payments.gate']) {
    await inDatabase(
      stack,
      `update ${table} set beta_started_at = beta_started_at - $2 * interval '1 day', beta_expires_at = beta_expires_at - $2 * interval '1 day'
        where merchant_id = $1`,
      [merchantId, days],
    );
  }
}

/** Moves everything that a merchant has created today days into the past. */
export async function passDays(stack: StackFile, { merchantId }: Merchant, days: number): Promise<void> {
  await inDatabase(stack, 'update payments.gate set used_day = used_day - $2::integer where merchant_id = $1', [
    merchantId,
    days,
  ]);
}

/** Ends the merchant's current rate-limit windows. */
export async function endWindows(stack: StackFile, { merchantId }: Merchant): Promise<void> {
  await inDatabase(
    stack,
    `update gateway.rate_limit_window set started_at = started_at - interval '1 day', ends_at = ends_at - interval '1 day'
      where subject = $1`,
    [merchantId],
  );
}
