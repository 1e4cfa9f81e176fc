import type { Texts } from './texts.ts';

export const de: Texts = {
  waiting: {
    title: 'Warten auf Ihre Zahlung',
    text: 'Diese Seite aktualisiert sich, sobald die Zahlung eintrifft.',
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
    title: 'Zahlung nicht gefunden',
    text: 'Bitte prüfen Sie, ob der Link vollständig ist, oder bitten Sie den Shop um einen neuen.',
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
  amountHint: 'Senden Sie ihn auf einmal. Am Betrag erkennen wir Ihre Zahlung.',
  lastDigits: 'Senden Sie auch die letzten Ziffern, {digits}. Daran erkennen wir Ihre Zahlung.',
  exchange: 'Senden Sie von einer Kryptobörse?',
  exchangeNetwork: 'Wählen Sie {network} als Netzwerk.',
  exchangeFee:
    'Viele Börsen ziehen ihre Gebühr vom Betrag ab. Bei einer Gebühr von {fee} geben Sie {entered} ein, damit {amount} ankommen.',
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
  payAgain: 'Zurück zum Shop für eine neue Zahlung',
  paidAt: 'Bezahlt am',
  print: 'Beleg drucken',
  receipt: 'Beleg anfordern',
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
  qrOfLink: 'QR-Code mit Adresse und Betrag',
  qrChoice: 'Inhalt des QR-Codes',
  qrRecipient: 'Nur Adresse',
  qrLink: 'Mit Betrag',
  qrLinkHint:
    'Prüfen Sie Adresse und Betrag in der Wallet. Liest sie diesen Code nicht, nehmen Sie den Code mit der Adresse.',
  openWallet: 'In einer Wallet-App öffnen',
  fillsAll: 'Prüfen Sie in der App Token, Netzwerk, Adresse und Betrag, bevor Sie senden.',
  fillsRecipient: 'Die App füllt die Adresse aus. Wählen Sie {currency} und geben Sie den Betrag ein.',

  wallet: {
    payWith: 'Mit {wallet} bezahlen',
    payHere: 'Mit der Wallet in diesem Browser bezahlen',
    hint: 'Ihre Wallet zeigt Netzwerk, Adresse und Betrag. Prüfen Sie alles und bestätigen Sie dann.',
    confirm: 'Öffnen Sie Ihre Wallet und bestätigen Sie dort die Zahlung.',
    look: 'Ihre Wallet hat nicht geantwortet. Sehen Sie dort nach: Die Zahlung wartet vielleicht noch oder ist schon gesendet.',
    refused: 'Sie haben in Ihrer Wallet abgelehnt. Es wurde nichts gesendet.',
    wrongChain:
      'Ihre Wallet nutzt ein anderes Netzwerk. Wählen Sie dort {network} und versuchen Sie es erneut. Es wurde nichts gesendet.',
    noTokens: 'Dieses Konto hat weniger als {amount} auf {network}. Es wurde nichts gesendet.',
    noGas: 'Dieses Konto hat nicht genug {coin} für die Netzwerkgebühr. Es wurde nichts gesendet.',
    failed: 'Ihre Wallet meldet einen Fehler. Es wurde nichts gesendet.',
    unclear: 'Ihre Wallet meldet einen Fehler. Sehen Sie zuerst dort nach: Die Zahlung wurde vielleicht gesendet.',
    sent: 'Gesendet. Wir warten auf das Netzwerk. Bitte zahlen Sie nicht noch einmal.',
    reverted: 'Das Netzwerk hat den Transfer abgelehnt, das Geld wurde nicht gesendet. Sie können es erneut versuchen.',
    before: 'Sie haben von dieser Seite schon eine Zahlung gesendet. Senden Sie den Rest nur, wenn sie angekommen ist.',
    again: 'Nicht gesendet: erneut versuchen',
    rest: 'Den Rest bezahlen',
    anyway: 'Trotzdem versuchen',
    apps: 'Oder diese Seite in einer Wallet öffnen:',
  },

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
      'Dieser Transfer zählt nicht für diese Zahlung: Er wurde vor ihr gemacht oder doppelt gesendet. Wenn er von Ihnen ist, wenden Sie sich an den Shop.',
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
