import { stringify } from 'csv-stringify/sync';
import { csvOptions } from '@quittance/contracts/csv.ts';
import { LinkMerchantLogin, LinkOperator, signInLinkPath } from '@quittance/contracts/http/api-gateway/people.ts';
import { ReadMerchant, ReadMerchantAudit } from '@quittance/contracts/http/api-gateway/merchants.ts';
import {
  type AuditEntry as ServiceEntry,
  ReadPaymentsAudit,
  ReadWebhookAudit,
} from '@quittance/contracts/http/audit.ts';
import { ReadGate, ReadLimits } from '@quittance/contracts/http/payments/gate.ts';
import type { Report } from '@quittance/contracts/http/payments/reports.ts';
import { ReadPolicyAudit, ReadPolicy } from '@quittance/contracts/http/quota.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { linkLogin } from '@quittance/operator/keys-and-logins.ts';
import * as access from '@quittance/operator/access.ts';
import * as rows from '@quittance/operator/merchants.ts';
import { linkOperator } from '@quittance/operator/operators.ts';
import { PAGE } from '@quittance/operator/row.ts';
import { facts } from '@quittance/operator/view.ts';
import { whatAnswers, type Api } from './api.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';
import { own, sent, show, waiting, type Asked, type Run } from './run.ts';
import { note, printResult } from './text.ts';
import { waitForAccountStatus, waitForGate, waitForPolicy } from './wait.ts';

/**
 * A restriction ends when payments enforces it: after that nothing is created against it. A permission holds for the very next creation,
 * since payments asks quota before it refuses.
 */
const enforced =
  (isRestriction: boolean) =>
  ({ api, values, options }: Asked<{ merchant_id: string }>, { policy_version: version }: { policy_version: number }) =>
    waitForGate(api, values.merchant_id, { seconds: isRestriction ? options.wait : null, version });

/**
 * api-gateway changes the status of the account, which holds for the API key immediately. The command ends when quota has received it:
 * payments asks quota before it refuses. A restriction ends only when payments applies it, so that what the gateway had let in
 * just before creates nothing either.
 */
const received =
  (isRestriction: boolean) =>
  async (asked: Asked<{ merchant_id: string }>, { status_version: statusVersion }: { status_version: number }) => {
    const { api, values, options } = asked;
    const version = await waitForAccountStatus(api, values.merchant_id, { seconds: options.wait, statusVersion });
    await enforced(isRestriction)(asked, { policy_version: version });
  };

export const merchantRuns: readonly Run[] = [
  waiting(access.activateBeta, enforced(false)),
  waiting(access.extendBeta, enforced(false)),
  waiting(access.resumeCreation, enforced(false)),
  waiting(access.setLimits, enforced(true)),
  waiting(access.moveToBeta, enforced(true)),
  waiting(access.pauseCreation, enforced(true)),
  waiting(rows.blockMerchant, received(true)),
  waiting(rows.unblockMerchant, received(false)),
  own(rows.createMerchant, async (asked) => {
    const done = await sent(rows.createMerchant, asked);
    // Before the wait, which may fail: these credentials cannot be shown again.
    show(done, asked);
    await waitForPolicy(asked.api, done.answer.merchant_id, { seconds: asked.options.wait });
  }),
  own(rows.reportMerchant, async (asked) => {
    const done = await sent(rows.reportMerchant, asked);
    if (asked.values.csv && !asked.options.json) process.stdout.write(reportCsv(done.answer));
    else show(done, asked);
  }),
  own(rows.showMerchant, showWhole),
  own(rows.auditMerchant, async ({ api, values: { merchant_id: id, before }, options, again }) => {
    const { silent, ...page } = await readAudit(api, id, before);
    if (silent.length < 4) printResult(page, options, ({ entries }) => [rows.auditTable(entries)]);
    if (page.next_before !== null) note(`There may be older ones: ${again({ before: page.next_before })}`, options);
    failIfSilent(silent);
  }),
  own(linkLogin, async ({ api, config, values: { merchant_id, name }, options, author }) => {
    const made = await api.call(LinkMerchantLogin, { params: { merchant_id, name }, author: author() });
    const { link, ...shown } = made;
    printResult({ ...shown, address: signInAddress(config, link) }, options, ({ address, ends_at: end }) => [
      facts({ merchant: shown.merchant_id, name, address, 'works until': end }),
    ]);
  }),
  own(linkOperator, async ({ api, config, values: { name }, options, author }) => {
    const { link, ...shown } = await api.call(LinkOperator, { params: { name }, author: author() });
    printResult({ ...shown, address: signInAddress(config, link) }, options, ({ address, ends_at: end }) => [
      facts({ name, role: shown.role, address, 'works until': end }),
    ]);
  }),
];

/** Where the link leads; without CONSOLE_URL only the end of it, which goes behind the console's address. */
const signInAddress = ({ consoleUrl }: Config, link: string): string =>
  `${consoleUrl.replace(/\/+$/, '')}${signInLinkPath(link)}`;

export const reportCsv = ({ rows: counted }: Report): string =>
  stringify(
    counted.map((row) => ({ ...row, paid_prices: rows.pricesText(row.paid_prices) })),
    {
      header: true,
      columns: ['period', 'network', 'created', 'paid', 'paid_amount', 'expired', 'cancelled', 'paid_prices'],
      ...csvOptions,
    },
  );

async function showWhole({ api, values, options }: Asked<{ merchant_id: string }>): Promise<void> {
  const given = { params: { merchant_id: values.merchant_id } };
  const gate = api.find(ReadGate, given);
  const limits = gate.then((known) => (known === null ? null : api.find(ReadLimits, given)));
  const { answers, silent } = await whatAnswers({
    merchant: api.call(ReadMerchant, given),
    // Null until the registration has reached them.
    policy: api.find(ReadPolicy, given),
    gate,
    limits,
  });
  if (Object.keys(answers).length > 0) printResult(answers, options, rows.wholeMerchantView);
  failIfSilent(silent);
}

/** The answers are shown; what is missing must not look like nothing. One service may have been asked twice. */
function failIfSilent(silent: readonly string[]): void {
  if (silent.length > 0) throw new Failure('unreachable', [...new Set(silent)].join('\n'));
}

/** An entry and the service that wrote it down. */
export type AuditEntry = ServiceEntry & { service: ServiceName };

/**
 * Everything that was done to a merchant, newest first. Four services keep an audit each, because an audit row belongs in the
 * transaction of the change it is about.
 * @returns `next_before` asks for the page after this one; null when there is none. `silent` names the services that did not answer.
 * @throws Failure `refused` for an unknown merchant.
 */
async function readAudit(api: Api, merchantId: string, before: string | undefined) {
  const asked = { params: { merchant_id: merchantId }, query: { before } };
  const { answers, silent } = await whatAnswers({
    // Only api-gateway knows every merchant; another service may not know it yet.
    gateway: api.call(ReadMerchantAudit, asked),
    quota: api.find(ReadPolicyAudit, asked),
    webhooks: api.find(ReadWebhookAudit, asked),
    payments: api.find(ReadPaymentsAudit, asked),
  });
  const lists = [
    entriesOf('api-gateway', answers.gateway),
    (answers.quota?.changes ?? []).map(({ changed_at: at, action, actor, reason, before: found, after }) => ({
      ...{ at, service: 'quota' as const, action, actor, reason, before: found, after },
    })),
    (answers.webhooks?.entries ?? []).map((entry) => ({
      ...rows.auditOfWebhook(entry),
      service: 'webhook-dispatcher' as const,
    })),
    entriesOf('payments', answers.payments),
  ];
  return { ...mergePages(lists), silent };
}

const entriesOf = (service: ServiceName, page: { entries: ServiceEntry[] } | undefined | null): AuditEntry[] =>
  (page?.entries ?? []).map((entry) => ({ ...entry, service }));

/**
 * One page of several lists, each newest first. Where a list fills its page there may be older entries, even of the same time as
 * its last one; so everything as old as that waits for the next page, and none is left out between two pages.
 */
export function mergePages(lists: readonly AuditEntry[][]): { entries: AuditEntry[]; next_before: string | null } {
  const ends = lists.filter((list) => list.length >= PAGE).map((list) => list.at(-1)?.at ?? '');
  const cut = ends.sort().at(-1) ?? '';
  const entries = lists
    .flat()
    .filter(({ at }) => at > cut)
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return { entries, next_before: cut === '' ? null : (entries.at(-1)?.at ?? cut) };
}
