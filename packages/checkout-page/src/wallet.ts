import { networkName, type Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import { html, type Html } from './html.ts';
import { fill, formatTransferred } from './format.ts';
import type { Language } from './languages.ts';
import { setApart } from './own-address.ts';
import { paymentLink, tokenUnitsOf } from './payment-link.ts';
import { walletApps } from './wallet-apps.ts';

/** The script shows one of these texts at a time. */
const says = [
  ...['confirm', 'look', 'refused', 'wrongChain', 'noTokens', 'noGas', 'failed', 'unclear'],
  ...['sent', 'reverted', 'before'],
] as const;
const offers = ['again', 'rest', 'anyway'] as const;

/**
 * Pays from a wallet on this device. The script (assets/wallet.js) finds wallets in this browser, and takes from here what to ask them for
 * and every word. Without a wallet in this browser, and without script, there is the link for wallet apps.
 * @param payment its amount is what is still to be sent.
 */
export function walletPanel(payment: PublicPayment, network: Network, language: Language): Html {
  const { texts } = language;
  return html`<div class="wallet" ${order(payment, network, language)}>
    <div class="wallet-pay" hidden>
      <div class="wallet-buttons"></div>
      <p class="hint">${texts.wallet.hint}</p>
    </div>
    <div class="wallet-news" role="status">${says.map((name) => news(name, payment, network, language))}</div>
    ${offers.map(
      (name) =>
        html`<button type="button" class="wallet-offer" data-offers="${name}" hidden>${texts.wallet[name]}</button>`,
    )}
    <div class="wallet-open">${openLink(payment, network, language)} ${appLinks(network, language)}</div>
  </div>`;
}

/** The transfer that a wallet is asked for, and the chain for wallets that do not know it. */
function order(payment: PublicPayment, network: Network, { texts }: Language): Html {
  const chain = addedChain(network);
  return html`data-family="${network.family}" data-chain-id="${chainIdOf(network)}"
  data-token="${network.usdt_contract}" data-recipient="${payment.merchant_wallet}"
  data-units="${String(tokenUnitsOf(payment.amount, network))}" data-pay-with="${texts.wallet.payWith}"
  data-pay-here="${texts.wallet.payHere}" ${chain === null ? [] : html`data-chain="${JSON.stringify(chain)}"`}`;
}

const chainIdOf = (network: Network): string => `0x${network.chain_id.toString(16)}`;

/** The parameter of wallet_addEthereumChain (https://eips.ethereum.org/EIPS/eip-3085); null if the networks file has no public endpoint. */
function addedChain(network: Network): object | null {
  const { wallet_chain: chain, explorer_transaction_url: explorer, family } = network;
  if (family !== 'evm' || chain?.rpc_url === undefined) return null;
  return {
    chainId: chainIdOf(network),
    chainName: chain.name ?? networkName(network),
    nativeCurrency: { name: chain.coin_name ?? chain.coin, symbol: chain.coin, decimals: 18 },
    rpcUrls: [chain.rpc_url],
    ...(explorer !== null && { blockExplorerUrls: [new URL(explorer).origin] }),
  };
}

function news(name: (typeof says)[number], payment: PublicPayment, network: Network, language: Language): Html {
  const shown = html`<bdi>${networkName(network)}</bdi>`;
  const values = {
    wrongChain: { network: shown },
    noTokens: {
      amount: setApart(language)(`${formatTransferred(language, payment.amount)} ${payment.currency}`),
      network: shown,
    },
    noGas: { coin: html`<bdi>${network.wallet_chain?.coin ?? networkName(network)}</bdi>` },
  };
  const text = fill(language.texts.wallet[name], Object.hasOwn(values, name) ? values[name as 'noGas'] : {});
  return html`<p data-says="${name}" hidden>${text}</p>`;
}

/** One tap from the browser to the wallet on the same device, and what the wallet can know from it. */
function openLink(payment: PublicPayment, network: Network, { texts }: Language): Html {
  const { currency } = payment;
  const hint = network.family === 'tron' ? fill(texts.fillsRecipient, { currency }) : html`${texts.fillsAll}`;
  return html`<a class="wallet-link" href="${paymentLink(payment, network)}">${texts.openWallet}</a>
    <p class="hint">${hint}</p>`;
}

/** The script puts the page's address into them: the server does not know the one that the reader has. */
function appLinks(network: Network, { texts }: Language): Html {
  const links = walletApps
    .filter(({ families }) => families.includes(network.family))
    .map(
      ({ name, link, encoded }) =>
        html`<li>
          <a
            data-app="${link}"
            data-encoded="${String(encoded)}"
            dir="ltr"
            rel="noopener noreferrer"
            referrerpolicy="no-referrer"
            >${name}</a
          >
        </li>`,
    );
  return html`<nav class="wallet-apps" aria-label="${texts.wallet.apps}">
    <p>${texts.wallet.apps}</p>
    <ul>
      ${links}
    </ul>
  </nav>`;
}
