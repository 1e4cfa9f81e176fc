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

  amount: string;
  /** {amount} as a wallet takes it, where the language writes it otherwise. */
  exactAmount: string;
  /** Why the amount must be exact. */
  amountHint: string;
  /** About fees that an exchange takes from what it sends. {amount} with the currency. */
  feeHint: string;
  network: string;
  /** {currency} and {network}, such as USDT and "Tron (TRC20)". */
  networkName: string;
  networkWarning: string;
  recipient: string;
  recipientHint: string;
  description: string;
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

  language: string;
  offline: string;
  /** Without script. {seconds} between two loads. */
  selfRefresh: string;
  refresh: string;
};
