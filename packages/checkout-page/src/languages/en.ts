import type { Texts } from './texts.ts';

export const en: Texts = {
  waiting: {
    title: 'Waiting for your payment',
    text: 'This page notices by itself when the payment arrives.',
  },
  over: {
    title: 'The time is over',
    text: 'Please do not send anything any more. We are looking at the last blocks: a payment that was made in time still counts.',
  },
  arrived: { title: '{amount} has arrived at this address', text: 'If it was you, do not pay again.' },
  frozen: {
    title: 'This address is frozen',
    text: 'The issuer of the token has frozen it. Please do not send anything: contact the shop, even if you have already paid.',
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
  finalityHint: 'For large amounts this may take several minutes.',

  amount: 'Amount',
  sendExactly: 'Send exactly',
  exactAmount: 'To type or paste: {amount}',
  amountHint: 'Exactly this amount, in one transfer: by it your payment is recognised.',
  lastDigits: 'The last digits, {digits}, must be sent too: your payment is recognised by them.',
  feeHint: 'Sending from an exchange? It may take its fee from the amount. Exactly {amount} must arrive.',
  send: 'Send',
  partsHint: 'Everything that arrives at this address counts for this payment. You may send it in parts.',
  received: 'Received {arrived} of {asked}',
  sendRest: 'Send the rest, {missing}, to the same address.',
  overpaid: 'More than the amount has arrived: {arrived} of {asked}. Contact the shop about the rest.',
  expiredReceived: 'The time was up, but the shop can still accept the money. Please do not pay again.',
  cancelledReceived: 'The payment was cancelled, but the shop can still accept the money. Please do not pay again.',
  network: 'Network',
  networkName: '{currency} on {network}',
  networkWarning: 'On any other network, or as another coin, the money is lost.',
  recipient: 'Address',
  recipientHint: 'After pasting, compare the beginning and the end.',
  payee: 'Payment to',
  back: 'Back to the shop',
  reference: 'Reference',
  arrivedAmount: 'Arrived',
  askedAmount: 'Asked for',
  notSent: 'I have not sent anything yet',
  contactShop: 'Contact the shop and give them this reference: {reference}',
  contactNamed: 'Contact {shop} and give them this reference: {reference}',
  unreadable:
    'We cannot read {network} right now. A payment that you have already sent is not lost: we will notice it later. Please do not pay again.',
  description: 'Description',
  price: 'Price',
  priceAt: '{price}, at {rate}',
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
  fillsAll:
    'The app should fill in token, network, address and amount. Not every app does: compare them before you send.',
  fillsRecipient: 'The app fills in the address only. Choose {currency} and enter the amount yourself.',

  help: 'I have paid, but nothing happens',
  helpText: 'Paste the transaction ID (TxID, hash) from your wallet or exchange. We look for it on the network.',
  transactionId: 'Transaction ID',
  lookUp: 'Look it up',
  askShop: 'Still unclear? Contact the shop and give them this reference: {reference}',
  lookup: {
    pays_this_payment: 'This transfer pays this payment. There is nothing more for you to do.',
    other_amount:
      'This transfer came to the right address, but with another amount. Please do not pay again: contact the shop.',
    other_address:
      'This transfer went to another address than the one of this payment. Check in your wallet where you sent it.',
    other_network:
      'This transfer was made on another network than the one asked for. Please do not pay again: contact the shop.',
    other_token: 'This transaction sent another token or coin than the one asked for. Please contact the shop.',
    failed: 'This transaction failed, so the money was not sent. See in your wallet why before you try again.',
    pending: 'This transaction is on its way. Please do not pay again; look it up once more in a few minutes.',
    too_late: 'This transfer came after the end of this payment. Please do not pay again: contact the shop.',
    not_for_this_payment:
      'This transfer does not count for this payment: it was made before it, or is one too many. If it is yours, contact the shop.',
    unknown:
      'No network knows this transaction. Check the ID; if you have only just paid, look it up again in a few minutes.',
    not_read_yet: 'It cannot be looked up right now. Your money is not affected; please try again in a few minutes.',
    no_transaction_id:
      'This is no transaction ID. It has 64 characters, digits and the letters a to f, often with 0x in front.',
    asked_too_often: 'That was too often. Please wait a minute before you look it up again.',
  },

  language: 'Language',
  offline: 'No connection. This page tries again by itself; your payment is not affected.',
  selfRefresh: 'This page reloads itself every {seconds} seconds.',
  refresh: 'Reload now',
};
