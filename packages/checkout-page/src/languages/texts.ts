import type { CheckoutLookupOutcome } from '@quittance/contracts/api/payment.ts';

/** A state of the page: its heading, and a sentence or two about what to do now. */
type Message = { title: string; text: string };

/**
 * Every word of the checkout page, in one language. `{name}` stands for a value that the page puts in, and a translation may place
 * it where its grammar wants it; each text keeps exactly the names that English has. Texts are no HTML.
 */
export type Texts = {
  waiting: Message;
  /** The time is over and no verdict has been given yet: a transfer of the last minute may still be found. */
  over: Message;
  /** {amount} with the currency, in the heading alone: money that may be the reader's, or somebody else's. */
  arrived: Message;
  /** The issuer of the token lets nothing leave this address any more. */
  frozen: Message;
  seen: Message;
  paid: Message;
  expired: Message;
  cancelled: Message;
  notFound: Message;
  unavailable: Message;

  /** Of the transfer that was seen; numbers in {seen} and {required}. */
  confirmations: string;
  /** When all confirmations are there, and the chain has not called the block final yet. */
  awaitingFinality: string;
  finalityHint: string;

  amount: string;
  /** Before the amount while it is waited for. */
  sendExactly: string;
  /** {amount} as a wallet takes it, where the language writes it otherwise. */
  exactAmount: string;
  /** Why the amount must be exact. */
  amountHint: string;
  /** {digits}: those behind the second decimal, which people drop. */
  lastDigits: string;
  /** About fees that an exchange takes from what it sends. {amount} with the currency. */
  feeHint: string;
  /** At an address that the payment has for itself: before the amount that is still to be sent, and that it need not be exact. */
  send: string;
  partsHint: string;
  /** Part of the amount, in the heading alone. {arrived} without the currency, {asked} with it. */
  received: string;
  /** {missing} with the currency. */
  sendRest: string;
  /** After more than the amount arrived, with the same values as the heading. */
  overpaid: string;
  /** Below what arrived at a payment that has ended unpaid. */
  expiredReceived: string;
  cancelledReceived: string;
  network: string;
  /** {currency} and {network}, such as USDT and "Tron (TRC20)". */
  networkName: string;
  networkWarning: string;
  recipient: string;
  recipientHint: string;
  /** Before the shop's name. */
  payee: string;
  back: string;
  /** The short name of the payment, which a customer tells the shop. */
  reference: string;
  /** Before what came, and before what should have come. */
  arrivedAmount: string;
  askedAmount: string;
  /** For a reader who sees money that somebody else sent. */
  notSent: string;
  /** Whom to ask about money that arrived; {shop} is the merchant's own name for it. */
  contactShop: string;
  contactNamed: string;
  /** While the network's nodes do not answer. */
  unreadable: string;
  description: string;
  /** Before the price in another currency. */
  price: string;
  /** {price} with its currency, and USDT for one unit of it in {rate}. */
  priceAt: string;
  timeLeft: string;
  /** Before the time of day at which the payment expires. */
  payBefore: string;

  /** What buttons say; screen readers hear the longer ones. */
  copy: string;
  copyAmount: string;
  copyRecipient: string;
  copied: string;
  copyFailed: string;

  /** Alternative text of the code. */
  qrOfRecipient: string;
  qrOfLink: string;
  /** The two kinds of code to choose from. */
  qrChoice: string;
  qrRecipient: string;
  qrLink: string;
  /** About the second kind. */
  qrLinkHint: string;
  openWallet: string;
  /** What the link of an EVM network, and the one of Tron, brings along. {currency} as wallets list it. */
  fillsAll: string;
  fillsRecipient: string;

  /** For customers who see no payment: a form for the transaction's id, what came of it, and whom to ask. */
  help: string;
  helpText: string;
  transactionId: string;
  lookUp: string;
  askShop: string;
  lookup: Record<CheckoutLookupOutcome, string>;

  language: string;
  offline: string;
  /** Without script. {seconds} between two loads. */
  selfRefresh: string;
  refresh: string;
};
