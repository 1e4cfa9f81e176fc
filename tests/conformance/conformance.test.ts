import { afterAll, beforeAll, describe } from '@jest/globals';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { accessSection } from './sections/access.ts';
import { cancelSection } from './sections/cancel.ts';
import { checkoutSection } from './sections/checkout.ts';
import { creationSection } from './sections/creation.ts';
import { credentialsSection } from './sections/credentials.ts';
import { deliveriesSection } from './sections/deliveries.ts';
import { edgeLimitsSection } from './sections/edge-limits.ts';
import { eventsSection } from './sections/events.ts';
import { extensionsCandidatesSection } from './sections/extensions-candidates.ts';
import { extensionsAccountsSection } from './sections/extensions-accounts.ts';
import { extensionsCreationSection } from './sections/extensions-creation.ts';
import { extensionsDedicatedSection } from './sections/extensions-dedicated.ts';
import { errorCodesSection } from './sections/extensions-errors.ts';
import { extensionsFindingSection } from './sections/extensions-finding.ts';
import { extensionsMoneySection } from './sections/extensions-money.ts';
import { extensionsPageSection } from './sections/extensions-page.ts';
import { extensionsPartsSection } from './sections/extensions-parts.ts';
import { extensionsPoolsSection } from './sections/extensions-pools.ts';
import { extensionsPricesSection } from './sections/extensions-prices.ts';
import { extensionsWebhooksSection } from './sections/extensions-webhooks.ts';
import { foreignObjectsSection } from './sections/foreign-objects.ts';
import { hostileSection } from './sections/hostile.ts';
import { idempotencySection } from './sections/idempotency.ts';
import { keyRotationSection } from './sections/key-rotation.ts';
import { limitsRecordSection } from './sections/limits-record.ts';
import { listsSection } from './sections/lists.ts';
import { propertiesSection } from './sections/properties.ts';
import { publicStatusSection } from './sections/public-status.ts';
import { quotaSection } from './sections/quota.ts';
import { rateLimitsSection } from './sections/rate-limits.ts';
import { rateWindows } from './sections/rate-windows.ts';
import { secretsSection } from './sections/secrets.ts';
import { sizesSection } from './sections/sizes.ts';
import { transfersSection } from './sections/transfers.ts';
import { unreadableBodiesSection } from './sections/unreadable-bodies.ts';
import { validationSection } from './sections/validation.ts';
import { webhookSettingsSection } from './sections/webhook-settings.ts';
import { webhookUrlsSection } from './sections/webhook-urls.ts';
import { contractStack, type ContractStack } from './support/contract-stack.ts';

/** What the sections test. It is set before the first of their tests runs. */
export type Contract = { readonly stack: StackFile };

/** The public contract, section by section, through the edge of a running system. */
describe('the public contract', () => {
  let running: ContractStack;
  const contract: Contract = {
    get stack() {
      return running.file;
    },
  };

  beforeAll(async () => {
    running = await contractStack();
  });

  afterAll(() => running.close(), 180_000);

  const windows = rateWindows(contract);
  windows.open();

  creationSection(contract);
  validationSection(contract);
  unreadableBodiesSection(contract);
  idempotencySection(contract);
  sizesSection(contract);
  propertiesSection(contract);
  listsSection(contract);
  transfersSection(contract);
  cancelSection(contract);
  publicStatusSection(contract);
  checkoutSection(contract);
  limitsRecordSection(contract);
  accessSection(contract);
  quotaSection(contract);
  webhookSettingsSection(contract);
  webhookUrlsSection(contract);
  deliveriesSection(contract);
  eventsSection(contract);
  credentialsSection(contract);
  keyRotationSection(contract);
  foreignObjectsSection(contract);
  rateLimitsSection(contract);
  edgeLimitsSection(contract);
  extensionsFindingSection(contract);
  extensionsCreationSection(contract);
  extensionsMoneySection(contract);
  extensionsCandidatesSection(contract);
  extensionsPageSection(contract);
  extensionsWebhooksSection(contract);
  extensionsPoolsSection(contract);
  extensionsDedicatedSection(contract);
  extensionsPartsSection(contract);
  extensionsPricesSection(contract);
  errorCodesSection(contract);
  extensionsAccountsSection(contract);
  hostileSection(contract);
  // Late, because it waits for the end of a window that began before everything else.
  windows.section();
  // Last, because it looks for what all the others may have left.
  secretsSection(contract);
});
