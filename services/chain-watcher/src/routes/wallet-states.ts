import { parseAddress } from '@quittance/contracts/address.ts';
import { ReadWalletStates } from '@quittance/contracts/http/chain-watcher/wallets.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { WalletStates } from '../look-up/wallet-states.ts';

export const walletStatesRoute = (states: WalletStates): Route =>
  callRoute(ReadWalletStates, ({ body: { network, addresses } }) => {
    const byHex = new Map(addresses.map((text, position) => [hexOf(text, position), text]));
    const frozen = states.blacklisted(network, [...byHex.keys()]);
    return Promise.resolve({ blacklisted: frozen.map((hex) => byHex.get(hex) ?? hex) });
  });

function hexOf(text: string, position: number): string {
  const address = parseAddress(text);
  if (address === null)
    throw invalid({ field: `addresses[${String(position)}]`, reason: 'must be a canonical address' });
  return address.hex;
}
