import type { Texts } from './texts.ts';

export const de: Texts = {
  waiting: {
    title: 'Warten auf Ihre Zahlung',
    text: 'Die Seite merkt von selbst, wenn die Zahlung eintrifft.',
  },
  over: {
    title: 'Die Zeit ist abgelaufen',
    text: 'Bitte senden Sie nichts mehr. Wir prüfen die letzten Blöcke: Eine rechtzeitige Zahlung zählt noch.',
  },
  arrived: {
    title: '{amount} sind an dieser Adresse eingegangen',
    text: 'Falls Sie das waren, zahlen Sie bitte nicht noch einmal.',
  },
  frozen: {
    title: 'Diese Adresse ist gesperrt',
    text: 'Der Herausgeber des Tokens hat sie eingefroren. Bitte senden Sie nichts: Wenden Sie sich an den Shop, auch wenn Sie schon gezahlt haben.',
  },
  seen: {
    title: 'Zahlung gefunden',
    text: 'Das Netzwerk bestätigt sie gerade. Bitte senden Sie sie nicht noch einmal. Sie können diese Seite schließen.',
  },
  paid: { title: 'Bezahlt', text: 'Die Zahlung ist eingegangen und bestätigt. Vielen Dank.' },
  expired: {
    title: 'Diese Zahlung ist abgelaufen',
    text: 'Bitte senden Sie nichts mehr an diese Adresse. Falls Sie es schon getan haben, wenden Sie sich an den Shop und nennen Sie die Transaktions-ID.',
  },
  cancelled: {
    title: 'Diese Zahlung wurde storniert',
    text: 'Bitte senden Sie nichts an diese Adresse. Falls Sie es schon getan haben, wenden Sie sich an den Shop und nennen Sie die Transaktions-ID.',
  },
  notFound: {
    title: 'Hier ist keine Zahlung',
    text: 'Dieser Link führt zu keiner Zahlung. Bitte prüfen Sie, ob er vollständig ist, oder bitten Sie den Shop um einen neuen.',
  },
  unavailable: {
    title: 'Einen Moment bitte',
    text: 'Die Zahlung kann gerade nicht angezeigt werden. Nichts ist verloren: Was Sie gesendet haben, ist nicht betroffen. Die Seite versucht es von selbst erneut.',
  },

  confirmations: 'Bestätigungen: {seen} von {required}',
  awaitingFinality: 'Es fehlt nur noch die endgültige Bestätigung des Netzwerks.',
  finalityHint: 'Bei großen Beträgen kann das einige Minuten dauern.',

  amount: 'Betrag',
  sendExactly: 'Senden Sie genau',
  exactAmount: 'Zum Eintippen oder Einfügen: {amount}',
  amountHint: 'Genau dieser Betrag, in einem einzigen Transfer: Daran wird Ihre Zahlung erkannt.',
  lastDigits: 'Auch die letzten Ziffern, {digits}, müssen gesendet werden: Daran wird Ihre Zahlung erkannt.',
  feeHint:
    'Senden Sie von einer Kryptobörse? Sie zieht ihre Gebühr möglicherweise vom Betrag ab. Es müssen genau {amount} ankommen.',
  send: 'Senden Sie',
  partsHint: 'Alles, was an dieser Adresse eingeht, zählt für diese Zahlung. Sie können auch in Teilen zahlen.',
  received: '{arrived} von {asked} eingegangen',
  sendRest: 'Senden Sie den Rest, {missing}, an dieselbe Adresse.',
  overpaid:
    'Es ist mehr als verlangt eingegangen: {arrived} statt {asked}. Wenden Sie sich wegen der Differenz an den Shop.',
  expiredReceived:
    'Die Zeit war abgelaufen, aber der Shop kann das Geld noch annehmen. Bitte zahlen Sie nicht noch einmal.',
  cancelledReceived:
    'Die Zahlung wurde storniert, aber der Shop kann das Geld noch annehmen. Bitte zahlen Sie nicht noch einmal.',
  network: 'Netzwerk',
  networkName: '{currency} im Netzwerk {network}',
  networkWarning: 'Über ein anderes Netzwerk oder als andere Kryptowährung gesendet, ist das Geld verloren.',
  recipient: 'Adresse',
  recipientHint: 'Vergleichen Sie nach dem Einfügen Anfang und Ende.',
  payee: 'Zahlung an',
  back: 'Zurück zum Shop',
  reference: 'Referenz',
  arrivedAmount: 'Eingegangen',
  askedAmount: 'Verlangt',
  notSent: 'Ich habe noch nichts gesendet',
  contactShop: 'Wenden Sie sich an den Shop und nennen Sie diese Referenz: {reference}',
  contactNamed: 'Wenden Sie sich an {shop} und nennen Sie diese Referenz: {reference}',
  unreadable:
    'Wir können {network} gerade nicht lesen. Eine Zahlung, die Sie schon gesendet haben, ist nicht verloren: Wir bemerken sie später. Bitte zahlen Sie nicht noch einmal.',
  description: 'Beschreibung',
  price: 'Preis',
  priceAt: '{price}, zum Kurs {rate}',
  timeLeft: 'Verbleibende Zeit',
  payBefore: 'Zahlbar bis',

  copy: 'Kopieren',
  copyAmount: 'Betrag kopieren',
  copyRecipient: 'Adresse kopieren',
  copied: 'Kopiert',
  copyFailed: 'Kopieren ist hier nicht möglich. Bitte markieren Sie den Text selbst.',

  qrOfRecipient: 'QR-Code der Adresse',
  qrOfLink: 'QR-Code für Wallet-Apps',
  qrChoice: 'Inhalt des QR-Codes',
  qrRecipient: 'Adresse',
  qrLink: 'Wallet-Link',
  qrLinkHint: 'Nicht jede Wallet-App versteht diesen Code. Prüfen Sie Netzwerk, Adresse und Betrag, bevor Sie senden.',
  openWallet: 'In einer Wallet-App öffnen',
  fillsAll:
    'Die App sollte Token, Netzwerk, Adresse und Betrag ausfüllen. Nicht jede tut das: Vergleichen Sie alles, bevor Sie senden.',
  fillsRecipient: 'Die App füllt nur die Adresse aus. Wählen Sie {currency} und geben Sie den Betrag selbst ein.',

  help: 'Ich habe bezahlt, aber nichts passiert',
  helpText: 'Fügen Sie die Transaktions-ID (TxID, Hash) aus Ihrer Wallet oder Börse ein. Wir suchen sie im Netzwerk.',
  transactionId: 'Transaktions-ID',
  lookUp: 'Nachsehen',
  askShop: 'Immer noch unklar? Wenden Sie sich an den Shop und nennen Sie diese Referenz: {reference}',
  lookup: {
    pays_this_payment: 'Dieser Transfer bezahlt diese Zahlung. Sie müssen nichts weiter tun.',
    other_amount:
      'Dieser Transfer kam an der richtigen Adresse an, aber mit einem anderen Betrag. Bitte zahlen Sie nicht noch einmal: Wenden Sie sich an den Shop.',
    other_address:
      'Dieser Transfer ging an eine andere Adresse als die dieser Zahlung. Sehen Sie in Ihrer Wallet nach, wohin Sie gesendet haben.',
    other_network:
      'Dieser Transfer lief über ein anderes Netzwerk als das verlangte. Bitte zahlen Sie nicht noch einmal: Wenden Sie sich an den Shop.',
    other_token:
      'Mit dieser Transaktion wurde eine andere Kryptowährung als die verlangte gesendet. Bitte wenden Sie sich an den Shop.',
    failed:
      'Diese Transaktion ist fehlgeschlagen, das Geld wurde nicht gesendet. Sehen Sie in Ihrer Wallet nach, warum, bevor Sie es erneut versuchen.',
    pending:
      'Diese Transaktion ist unterwegs. Bitte zahlen Sie nicht noch einmal; sehen Sie in einigen Minuten wieder nach.',
    too_late:
      'Dieser Transfer kam nach dem Ende dieser Zahlung. Bitte zahlen Sie nicht noch einmal: Wenden Sie sich an den Shop.',
    not_for_this_payment:
      'Dieser Transfer zählt nicht für diese Zahlung: Er ist älter als sie oder einer zu viel. Wenn er von Ihnen ist, wenden Sie sich an den Shop.',
    unknown:
      'Kein Netzwerk kennt diese Transaktion. Prüfen Sie die ID; wenn Sie gerade erst bezahlt haben, sehen Sie in einigen Minuten wieder nach.',
    not_read_yet:
      'Das lässt sich gerade nicht nachsehen. Ihr Geld ist nicht betroffen; bitte versuchen Sie es in einigen Minuten wieder.',
    no_transaction_id:
      'Das ist keine Transaktions-ID. Sie hat 64 Zeichen, Ziffern und die Buchstaben a bis f, oft mit 0x davor.',
    asked_too_often: 'Das war zu oft. Bitte warten Sie eine Minute, bevor Sie wieder nachsehen.',
  },

  language: 'Sprache',
  offline: 'Keine Verbindung. Die Seite versucht es von selbst erneut; Ihre Zahlung ist nicht betroffen.',
  selfRefresh: 'Diese Seite lädt sich alle {seconds} Sekunden selbst neu.',
  refresh: 'Jetzt neu laden',
};
