import type { MerchantLogin, NewMerchantLogin } from '@quittance/contracts/http/api-gateway/merchant-logins.ts';
import type { MerchantPerson } from '@quittance/contracts/principal.ts';
import { record, table } from '../text.ts';

export const newLoginView = ({ merchant_id: merchant, name, credential }: NewMerchantLogin): string =>
  record({ merchant, name, credential });

export const loginLinkView = (link: MerchantPerson & { address: string; ends_at: string }): string =>
  record({ merchant: link.merchant_id, name: link.name, address: link.address, 'works until': link.ends_at });

export const loginView = (login: MerchantLogin): string =>
  record({
    name: login.name,
    created: login.created_at,
    'last used': login.last_used_at,
    disabled: login.disabled_at,
  });

export const loginsView = ({ logins }: { logins: readonly MerchantLogin[] }): string =>
  table(logins, { name: 'name', created: 'created_at', 'last used': 'last_used_at', disabled: 'disabled_at' });
