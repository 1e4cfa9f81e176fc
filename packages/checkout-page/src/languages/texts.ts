import type { CheckoutLookupOutcome } from '@quittance/contracts/api/checkout.ts';

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
  /** For those who withdraw from an exchange, by the example of a fee. All three with the currency. */
  exchange: string;
  exchangeNetwork: string;
  exchangeFee: string;
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
  /** The same link of a payment that ended unpaid. */
  payAgain: string;
  /** Before the time, on a button, and above the form that gets both. */
  paidAt: string;
  print: string;
  receipt: string;
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

  /** Paying from a wallet in this browser. The script shows them, each when it is so. */
  wallet: {
    /** Buttons. {wallet} is a wallet's own name; the second is for one without a name. */
    payWith: string;
    payHere: string;
    /** Below the buttons. */
    hint: string;
    /** The wallet has been asked, and after a minute without an answer. */
    confirm: string;
    look: string;
    /** Why nothing was sent: declined; wrong {network}; less than {amount} on {network}; too little {coin} for the fee; an error. */
    refused: string;
    wrongChain: string;
    noTokens: string;
    noGas: string;
    failed: string;
    /** An error after which it may have been sent. */
    unclear: string;
    sent: string;
    reverted: string;
    /** Sent once from this tab, and another amount is missing now. */
    before: string;
    /** Buttons: after looking into the wallet; for what is missing; in spite of a fee that seems too high. */
    again: string;
    rest: string;
    anyway: string;
    /** Before the names of apps in which the page can be opened. */
    apps: string;
  };

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
