import type { Texts } from './texts.ts';

export const de: Texts = {
  waiting: {
    title: 'Warten auf Ihre Zahlung',
    text: 'Senden Sie genau diesen Betrag an diese Adresse. Die Seite merkt von selbst, wenn die Zahlung eintrifft.',
  },
  over: {
    title: 'Die Zeit ist abgelaufen',
    text: 'Bitte senden Sie nichts mehr. Wir prüfen die letzten Blöcke: Eine rechtzeitige Zahlung zählt noch.',
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

  amount: 'Betrag',
  exactAmount: 'Zum Eintippen oder Einfügen: {amount}',
  amountHint: 'Genau dieser Betrag, in einem einzigen Transfer: Daran wird Ihre Zahlung erkannt.',
  feeHint:
    'Senden Sie von einer Kryptobörse? Sie zieht ihre Gebühr möglicherweise vom Betrag ab. Es müssen genau {amount} ankommen.',
  network: 'Netzwerk',
  networkName: '{currency} im Netzwerk {network}',
  networkWarning: 'Über ein anderes Netzwerk oder als andere Kryptowährung gesendet, ist das Geld verloren.',
  recipient: 'Adresse',
  recipientHint: 'Vergleichen Sie nach dem Einfügen Anfang und Ende.',
  description: 'Beschreibung',
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

  language: 'Sprache',
  offline: 'Keine Verbindung. Die Seite versucht es von selbst erneut; Ihre Zahlung ist nicht betroffen.',
  selfRefresh: 'Diese Seite lädt sich alle {seconds} Sekunden selbst neu.',
  refresh: 'Jetzt neu laden',
};
