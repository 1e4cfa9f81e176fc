import type { Texts } from './texts.ts';

export const en: Texts = {
  waiting: {
    title: 'Waiting for your payment',
    text: 'This page updates by itself when the payment arrives.',
  },
  over: {
    title: 'The time to pay has ended',
    text: 'Do not send anything now. We are checking the last blocks: a payment made in time still counts.',
  },
  arrived: { title: '{amount} has arrived at this address', text: 'If it was you, do not pay again.' },
  frozen: {
    title: 'This address is frozen',
    text: 'The issuer of the token has frozen this address. Do not send anything. Contact the shop, even if you have already paid.',
  },
  seen: {
    title: 'Payment found',
    text: 'The network is confirming it. Do not send it again. You can close this page.',
  },
  paid: { title: 'Paid', text: 'Your payment has arrived and is confirmed. Thank you.' },
  expired: {
    title: 'This payment has expired',
    text: 'Do not send anything to this address any more. If you already did, contact the shop and give them the transaction ID.',
  },
  cancelled: {
    title: 'This payment was cancelled',
    text: 'Do not send anything to this address. If you already did, contact the shop and give them the transaction ID.',
  },
  notFound: {
    title: 'Payment not found',
    text: 'Check that the link is complete, or ask the shop for a new one.',
  },
  unavailable: {
    title: 'Just a moment',
    text: 'We cannot show this payment right now. Nothing is lost: a payment that you have sent is not affected. This page tries again by itself.',
  },

  confirmations: 'Confirmations: {seen} of {required}',
  awaitingFinality: 'The network has not finalized it yet.',
  finalityHint: 'For large amounts this can take several minutes.',

  amount: 'Amount',
  sendExactly: 'Send exactly',
  exactAmount: 'To type or paste: {amount}',
  amountHint: 'Send it in one transfer. We match your payment by this amount.',
  lastDigits: 'Include the last digits, {digits}. We match your payment by them.',
  exchange: 'Sending from an exchange?',
  exchangeNetwork: 'Choose {network} as the network.',
  exchangeFee:
    'Many exchanges take their fee from the amount. With a fee of {fee}, enter {entered}, so that {amount} arrives.',
  send: 'Send',
  partsHint: 'Everything that arrives at this address counts toward this payment. You can send it in parts.',
  received: 'Received {arrived} of {asked}',
  sendRest: 'Send the rest, {missing}, to the same address.',
  overpaid: 'More than the amount has arrived: {arrived} of {asked}. Ask the shop about the difference.',
  expiredReceived: 'The time to pay had ended, but the shop can still accept the money. Do not pay again.',
  cancelledReceived: 'The payment was cancelled, but the shop can still accept the money. Do not pay again.',
  network: 'Network',
  networkName: '{currency} on {network}',
  networkWarning: 'Money sent on another network, or as another coin, is lost.',
  recipient: 'Address',
  recipientHint: 'After pasting, compare the first and the last characters.',
  payee: 'Payment to',
  back: 'Back to the shop',
  payAgain: 'Back to the shop for a new payment',
  paidAt: 'Paid on',
  print: 'Print receipt',
  receipt: 'Get a receipt',
  reference: 'Reference',
  arrivedAmount: 'Received',
  askedAmount: 'Requested',
  notSent: 'I have not sent anything yet',
  contactShop: 'Contact the shop and give them this reference: {reference}',
  contactNamed: 'Contact {shop} and give them this reference: {reference}',
  unreadable:
    'We cannot read {network} right now. If you have already paid, your payment is not lost: we will find it later. Do not pay again.',
  description: 'Description',
  timeLeft: 'Time left',
  payBefore: 'Pay before',

  copy: 'Copy',
  copyAmount: 'Copy the amount',
  copyRecipient: 'Copy the address',
  copied: 'Copied',
  copyFailed: 'Your browser did not allow copying. Select the text instead.',

  qrOfRecipient: 'QR code of the address',
  qrOfLink: 'QR code with address and amount',
  qrChoice: 'What the QR code holds',
  qrRecipient: 'Address only',
  qrLink: 'With amount',
  qrLinkHint: 'Check address and amount in your wallet. If it cannot read this code, use the address only.',
  openWallet: 'Open in a wallet app',
  fillsAll: 'Check token, network, address and amount in the app before you send.',
  fillsRecipient: 'The app fills in the address. Choose {currency} and enter the amount.',

  help: 'I have paid, but nothing happens',
  helpText: 'Paste the transaction ID (TxID, hash) from your wallet or exchange. We look it up on the network.',
  transactionId: 'Transaction ID',
  lookUp: 'Look it up',
  askShop: 'Still unclear? Contact the shop and give them this reference: {reference}',
  lookup: {
    pays_this_payment: 'This transfer pays this payment. You do not need to do anything else.',
    other_amount:
      'This transfer arrived at the right address, but with a different amount. Do not pay again: contact the shop.',
    other_address: 'This transfer went to a different address. Check in your wallet where you sent it.',
    other_network: 'This transfer was made on a different network. Do not pay again: contact the shop.',
    other_token: 'This transaction sent a different token or coin. Contact the shop.',
    failed: 'This transaction failed, so no money was sent. Check the reason in your wallet before you try again.',
    pending: 'This transaction is on its way. Do not pay again. Look it up again in a few minutes.',
    too_late: 'This transfer arrived after this payment had ended. Do not pay again: contact the shop.',
    not_for_this_payment:
      'This transfer does not count for this payment: it was made before the payment, or was sent twice. If it is yours, contact the shop.',
    unknown:
      'We did not find this transaction on any network. Check the ID. If you have just paid, look it up again in a few minutes.',
    not_read_yet: 'We cannot look it up right now. Your money is not affected. Try again in a few minutes.',
    no_transaction_id:
      'This is not a transaction ID. An ID has 64 characters: digits and the letters a to f, often with 0x in front.',
    asked_too_often: 'Too many look-ups. Wait a minute and try again.',
  },

  language: 'Language',
  offline: 'No connection. This page tries again by itself. Your payment is not affected.',
  selfRefresh: 'This page reloads itself every {seconds} seconds.',
  refresh: 'Reload now',
};
