import type { Texts } from './texts.ts';

export const it: Texts = {
  waiting: {
    title: 'In attesa del pagamento',
    text: 'Questa pagina si aggiorna da sola quando arriva il pagamento.',
  },
  over: {
    title: 'Il tempo per pagare è scaduto',
    text: 'Non inviare nulla adesso. Stiamo controllando gli ultimi blocchi: un pagamento fatto in tempo è ancora valido.',
  },
  arrived: { title: 'Sono arrivati {amount} a questo indirizzo', text: 'Se li hai inviati tu, non pagare di nuovo.' },
  frozen: {
    title: 'Questo indirizzo è bloccato',
    text: 'L’emittente del token ha congelato questo indirizzo. Non inviare nulla. Contatta il negozio, anche se hai già pagato.',
  },
  seen: {
    title: 'Pagamento trovato',
    text: 'La rete lo sta confermando. Non inviarlo di nuovo. Puoi chiudere questa pagina.',
  },
  paid: { title: 'Pagato', text: 'Il pagamento è arrivato ed è confermato. Grazie.' },
  expired: {
    title: 'Questo pagamento è scaduto',
    text: 'Non inviare più nulla a questo indirizzo. Se lo hai già fatto, contatta il negozio e comunica l’ID della transazione.',
  },
  cancelled: {
    title: 'Questo pagamento è stato annullato',
    text: 'Non inviare nulla a questo indirizzo. Se lo hai già fatto, contatta il negozio e comunica l’ID della transazione.',
  },
  notFound: {
    title: 'Pagamento non trovato',
    text: 'Controlla che il link sia completo o chiedine uno nuovo al negozio.',
  },
  unavailable: {
    title: 'Un momento',
    text: 'Ora non possiamo mostrare questo pagamento. Non si è perso nulla: un pagamento già inviato non ne risente. Questa pagina riprova da sola.',
  },

  confirmations: 'Conferme: {seen} di {required}',
  awaitingFinality: 'Manca solo la conferma definitiva della rete.',
  finalityHint: 'Per importi elevati può richiedere alcuni minuti.',

  amount: 'Importo',
  sendExactly: 'Invia esattamente',
  exactAmount: 'Da scrivere o incollare: {amount}',
  amountHint: 'Invialo con un solo trasferimento. Riconosciamo il pagamento da questo importo.',
  lastDigits: 'Invia anche le ultime cifre, {digits}. Da queste riconosciamo il pagamento.',
  exchange: 'Invii da un exchange?',
  exchangeNetwork: 'Scegli {network} come rete.',
  exchangeFee:
    'Molti exchange tolgono la commissione dall’importo. Con una commissione di {fee}, inserisci {entered}, così arrivano {amount}.',
  send: 'Invia',
  partsHint: 'Tutto ciò che arriva a questo indirizzo vale per questo pagamento. Puoi inviarlo in più parti.',
  received: 'Ricevuti {arrived} di {asked}',
  sendRest: 'Invia il resto, {missing}, allo stesso indirizzo.',
  overpaid: 'È arrivato più dell’importo richiesto: {arrived} invece di {asked}. Chiedi al negozio della differenza.',
  expiredReceived:
    'Il tempo per pagare era scaduto, ma il negozio può ancora accettare il denaro. Non pagare di nuovo.',
  cancelledReceived:
    'Il pagamento è stato annullato, ma il negozio può ancora accettare il denaro. Non pagare di nuovo.',
  network: 'Rete',
  networkName: '{currency} sulla rete {network}',
  networkWarning: 'Se invii su un’altra rete o in un’altra criptovaluta, il denaro va perso.',
  recipient: 'Indirizzo',
  recipientHint: 'Dopo averlo incollato, confronta l’inizio e la fine.',
  payee: 'Pagamento a',
  back: 'Torna al negozio',
  payAgain: 'Torna al negozio per un nuovo pagamento',
  paidAt: 'Pagato il',
  print: 'Stampa la ricevuta',
  receipt: 'Ottieni una ricevuta',
  reference: 'Riferimento',
  arrivedAmount: 'Ricevuto',
  askedAmount: 'Richiesto',
  notSent: 'Non ho ancora inviato nulla',
  contactShop: 'Contatta il negozio e comunica questo riferimento: {reference}',
  contactNamed: 'Contatta {shop} e comunica questo riferimento: {reference}',
  unreadable:
    'Al momento non possiamo leggere {network}. Se hai già pagato, il pagamento non è perso: lo troveremo più tardi. Non pagare di nuovo.',
  description: 'Descrizione',
  price: 'Prezzo',
  priceAt: '{price}, al cambio {rate}',
  timeLeft: 'Tempo rimasto',
  payBefore: 'Paga entro',

  copy: 'Copia',
  copyAmount: 'Copia l’importo',
  copyRecipient: 'Copia l’indirizzo',
  copied: 'Copiato',
  copyFailed: 'Il browser non ha permesso la copia. Seleziona il testo.',

  qrOfRecipient: 'Codice QR dell’indirizzo',
  qrOfLink: 'Codice QR con indirizzo e importo',
  qrChoice: 'Contenuto del codice QR',
  qrRecipient: 'Solo indirizzo',
  qrLink: 'Con importo',
  qrLinkHint: 'Controlla indirizzo e importo nel wallet. Se non legge questo codice, usa solo l’indirizzo.',
  openWallet: 'Apri in un wallet',
  fillsAll: 'Controlla token, rete, indirizzo e importo nell’app prima di inviare.',
  fillsRecipient: 'L’app inserisce l’indirizzo. Scegli {currency} e inserisci l’importo.',

  wallet: {
    payWith: 'Paga con {wallet}',
    payHere: 'Paga con il wallet di questo browser',
    hint: 'Il wallet mostra rete, indirizzo e importo. Controllali, poi conferma.',
    confirm: 'Apri il wallet e conferma lì il pagamento.',
    look: 'Il wallet non ha risposto. Controlla lì: il pagamento può essere in attesa o già inviato.',
    refused: 'Hai rifiutato nel wallet. Non è stato inviato nulla.',
    wrongChain: 'Il wallet è su un’altra rete. Scegli {network} e riprova. Non è stato inviato nulla.',
    noTokens: 'Questo account ha meno di {amount} su {network}. Non è stato inviato nulla.',
    noGas: 'Questo account non ha abbastanza {coin} per la commissione di rete. Non è stato inviato nulla.',
    failed: 'Il wallet segnala un errore. Non è stato inviato nulla.',
    unclear: 'Il wallet segnala un errore. Controlla prima lì: il pagamento può essere stato inviato.',
    sent: 'Inviato. Attendiamo la rete. Non pagare di nuovo.',
    reverted: 'La rete ha rifiutato il trasferimento, quindi il denaro non è stato inviato. Puoi riprovare.',
    before: 'Hai già inviato un pagamento da questa pagina. Invia il resto solo se quello è arrivato.',
    again: 'Non è stato inviato: riprova',
    rest: 'Paga il resto',
    anyway: 'Prova comunque',
    apps: 'Oppure apri questa pagina in un wallet:',
  },

  help: 'Ho pagato, ma non succede nulla',
  helpText: 'Incolla l’ID della transazione (TxID, hash) dal wallet o dall’exchange. Lo cerchiamo sulla rete.',
  transactionId: 'ID della transazione',
  lookUp: 'Cerca',
  askShop: 'Non è ancora chiaro? Contatta il negozio e comunica questo riferimento: {reference}',
  lookup: {
    pays_this_payment: 'Questo trasferimento paga questo pagamento. Non devi fare altro.',
    other_amount:
      'Questo trasferimento è arrivato all’indirizzo giusto, ma con un altro importo. Non pagare di nuovo: contatta il negozio.',
    other_address: 'Questo trasferimento è andato a un altro indirizzo. Controlla nel wallet dove lo hai inviato.',
    other_network: 'Questo trasferimento è stato fatto su un’altra rete. Non pagare di nuovo: contatta il negozio.',
    other_token: 'Questa transazione ha inviato un altro token o un’altra moneta. Contatta il negozio.',
    failed:
      'Questa transazione è fallita, quindi il denaro non è stato inviato. Controlla il motivo nel wallet prima di riprovare.',
    pending: 'Questa transazione è in corso. Non pagare di nuovo. Cercala ancora tra qualche minuto.',
    too_late:
      'Questo trasferimento è arrivato dopo la fine di questo pagamento. Non pagare di nuovo: contatta il negozio.',
    not_for_this_payment:
      'Questo trasferimento non vale per questo pagamento: è stato fatto prima o inviato due volte. Se è tuo, contatta il negozio.',
    unknown:
      'Non abbiamo trovato questa transazione su nessuna rete. Controlla l’ID. Se hai appena pagato, cercala ancora tra qualche minuto.',
    not_read_yet: 'Ora non possiamo cercarla. Il tuo denaro non ne risente. Riprova tra qualche minuto.',
    no_transaction_id:
      'Questo non è un ID di transazione. Un ID ha 64 caratteri: cifre e lettere da a a f, spesso con 0x davanti.',
    asked_too_often: 'Troppe ricerche. Aspetta un minuto e riprova.',
  },

  language: 'Lingua',
  offline: 'Nessuna connessione. Questa pagina riprova da sola. Il pagamento non ne risente.',
  selfRefresh: 'Questa pagina si ricarica da sola ogni {seconds} secondi.',
  refresh: 'Ricarica ora',
};
