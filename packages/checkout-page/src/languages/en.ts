import type { Texts } from './texts.ts';

export const en: Texts = {
  waiting: {
    title: 'Waiting for your payment',
    text: 'Send exactly this amount to this address. This page notices by itself when the payment arrives.',
  },
  over: {
    title: 'The time is over',
    text: 'Please do not send anything any more. We are looking at the last blocks: a payment that was made in time still counts.',
  },
  seen: {
    title: 'Payment found',
    text: 'The network is confirming it. Please do not send it again. You may close this page.',
  },
  paid: { title: 'Paid', text: 'The payment has arrived and is confirmed. Thank you.' },
  expired: {
    title: 'This payment has expired',
    text: 'Please do not send anything to this address any more. If you already did, contact the shop and give them the transaction ID.',
  },
  cancelled: {
    title: 'This payment was cancelled',
    text: 'Please do not send anything to this address. If you already did, contact the shop and give them the transaction ID.',
  },
  notFound: {
    title: 'No payment here',
    text: 'This link leads to no payment. Please check that it is complete, or ask the shop for a new one.',
  },
  unavailable: {
    title: 'Just a moment',
    text: 'The payment cannot be shown right now. Nothing is lost: what you have sent is not affected. This page tries again by itself.',
  },

  confirmations: 'Confirmations: {seen} of {required}',
  awaitingFinality: 'Only the network’s final word is still missing.',

  amount: 'Amount',
  exactAmount: 'To type or paste: {amount}',
  amountHint: 'Exactly this amount, in one transfer: by it your payment is recognised.',
  feeHint: 'Sending from an exchange? It may take its fee from the amount. Exactly {amount} must arrive.',
  network: 'Network',
  networkName: '{currency} on {network}',
  networkWarning: 'On any other network, or as another coin, the money is lost.',
  recipient: 'Address',
  recipientHint: 'After pasting, compare the beginning and the end.',
  description: 'Description',
  timeLeft: 'Time left',
  payBefore: 'Pay before',

  copy: 'Copy',
  copyAmount: 'Copy the amount',
  copyRecipient: 'Copy the address',
  copied: 'Copied',
  copyFailed: 'Copying is not possible here. Please select the text yourself.',

  qrOfRecipient: 'QR code of the address',
  qrOfLink: 'QR code for wallet apps',
  qrChoice: 'What the QR code holds',
  qrRecipient: 'Address',
  qrLink: 'Wallet link',
  qrLinkHint: 'Not every wallet app understands this code. Check network, address and amount before you send.',
  openWallet: 'Open in a wallet app',

  language: 'Language',
  offline: 'No connection. This page tries again by itself; your payment is not affected.',
  selfRefresh: 'This page reloads itself every {seconds} seconds.',
  refresh: 'Reload now',
};
