import { type Command } from 'commander';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  LinkMerchantLogin,
  ListMerchantLogins,
} from '@quittance/contracts/http/api-gateway/merchant-logins.ts';
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
import { personArgument } from '../person-argument.ts';
import { signInAddress } from '../sign-in-address.ts';
import { loginLinkView, loginsView, loginView, newLoginView } from '../views/merchant-login.ts';
import { namedMerchant } from './named-merchant.ts';

const merchantId = idArgument('mer');

/** The people of a merchant who may look at its data in the console. */
export function merchantLoginCommands(merchant: Command, ops: Ops): void {
  const login = merchant
    .command('login')
    .description("a merchant's people, who see its data in the console and nobody else's");
  add(login, ops);
  list(login, ops);
  link(login, ops);
  disable(login, ops);
}

function add(login: Command, { api, config }: Ops): void {
  changes(login.command('add'))
    .description('an account for a person, with a credential that is shown this once; brings back a disabled one')
    .argument('<merchant>', 'merchant id', merchantId)
    .argument('<name>', "as the merchant's audit shows it", personArgument)
    .action(async (id: string, name: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      const added = await api.call(AddMerchantLogin, { params: { merchant_id: id }, body: { name }, author });
      printResult(added, options, newLoginView);
    });
}

function list(login: Command, { api }: Ops): void {
  reads(login.command('list'))
    .description('who they are; those who were disabled last')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption) =>
      printResult(await api.call(ListMerchantLogins, { params: { merchant_id: id } }), options, loginsView),
    );
}

function link(login: Command, { api, config }: Ops): void {
  changes(login.command('link'))
    .description('an address that signs somebody in to the console once, within half an hour; shown this once')
    .argument('<merchant>', 'merchant id', merchantId)
    .argument('<name>', 'as login list shows it', personArgument)
    .action(async (id: string, name: string, options: ChangeOptions) => {
      const params = { merchant_id: id, name };
      const made = await api.call(LinkMerchantLogin, { params, author: authorOf(options, config) });
      const { link: _secret, ...shown } = made;
      printResult({ ...shown, address: signInAddress(config, made) }, options, loginLinkView);
    });
}

function disable(login: Command, { api, config }: Ops): void {
  asks(changes(login.command('disable')))
    .description('ends sessions at once, and refuses the credential from now on')
    .argument('<merchant>', 'merchant id', merchantId)
    .argument('<name>', 'as login list shows it', personArgument)
    .action(async (id: string, name: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      await confirm(async () => `Disable ${name} of ${await namedMerchant(api, id)}?`, options);
      printResult(
        await api.call(DisableMerchantLogin, { params: { merchant_id: id, name }, author }),
        options,
        loginView,
      );
    });
}
