import { Option, type Command } from 'commander';
import {
  AddApiKey,
  apiKeyScopes,
  ListApiKeys,
  RevokeApiKey,
  type ApiKeyScope,
} from '@quittance/contracts/http/api-gateway/api-keys.ts';
import {
  asks,
  authorOf,
  changes,
  idArgument,
  reads,
  type ChangeOptions,
  type JsonOption,
  type Ops,
} from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import { apiKeysView, apiKeyView, newApiKeyView } from '../views/api-key.ts';
import { namedMerchant } from './named-merchant.ts';

const merchantId = idArgument('mer');

/** Several API keys of one merchant. */
export function merchantKeyCommands(merchant: Command, ops: Ops): void {
  const key = merchant.command('key').description('the API keys of a merchant, which share its limits and counters');
  add(key, ops);
  list(key, ops);
  revoke(key, ops);
}

function add(key: Command, { api, config }: Ops): void {
  changes(key.command('add'))
    .description('a further API key, shown this once')
    .argument('<merchant>', 'merchant id', merchantId)
    .requiredOption('--name <name>', 'what uses it; no two working keys have one name')
    .addOption(new Option('--scope <scope>', 'all, or read for what only reads').choices(apiKeyScopes).default('all'))
    .action(async (id: string, options: ChangeOptions & { name: string; scope: ApiKeyScope }) => {
      const { name, scope } = options;
      const author = authorOf(options, config);
      const added = await api.call(AddApiKey, { params: { merchant_id: id }, body: { name, scope }, author });
      printResult(added, options, newApiKeyView);
    });
}

function list(key: Command, { api }: Ops): void {
  reads(key.command('list'))
    .description('the keys that work, and those that were revoked last; never a key itself')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption) =>
      printResult(await api.call(ListApiKeys, { params: { merchant_id: id } }), options, apiKeysView),
    );
}

function revoke(key: Command, { api, config }: Ops): void {
  asks(changes(key.command('revoke')))
    .description('a further key answers 401 from now on; the first one is replaced instead')
    .argument('<merchant>', 'merchant id', merchantId)
    .requiredOption('--name <name>', 'as key list shows it')
    .action(async (id: string, options: ChangeOptions & { name: string }) => {
      const { name } = options;
      const author = authorOf(options, config);
      await confirm(
        async () => `Revoke the key "${name}" of ${await namedMerchant(api, id)}? It cannot come back.`,
        options,
      );
      const revoked = await api.call(RevokeApiKey, { params: { merchant_id: id }, body: { name }, author });
      printResult(revoked, options, apiKeyView);
    });
}
