import type { Texts } from './texts.ts';

export const fr: Texts = {
  waiting: {
    title: 'En attente de votre paiement',
    text: 'Cette page se met à jour dès que le paiement arrive.',
  },
  over: {
    title: 'Le délai est écoulé',
    text: 'Veuillez ne plus rien envoyer. Nous examinons les derniers blocs : un paiement effectué à temps reste valable.',
  },
  arrived: { title: '{amount} sont arrivés à cette adresse', text: 'Si c’était vous, ne payez pas une seconde fois.' },
  frozen: {
    title: 'Cette adresse est gelée',
    text: 'L’émetteur du jeton l’a gelée. Veuillez ne rien envoyer : contactez la boutique, même si vous avez déjà payé.',
  },
  seen: {
    title: 'Paiement détecté',
    text: 'Le réseau est en train de le confirmer. Veuillez ne pas l’envoyer une seconde fois. Vous pouvez fermer cette page.',
  },
  paid: { title: 'Payé', text: 'Le paiement est arrivé et confirmé. Merci.' },
  expired: {
    title: 'Ce paiement a expiré',
    text: 'Veuillez ne plus rien envoyer à cette adresse. Si vous l’avez déjà fait, contactez la boutique en indiquant l’identifiant de la transaction.',
  },
  cancelled: {
    title: 'Ce paiement a été annulé',
    text: 'Veuillez ne rien envoyer à cette adresse. Si vous l’avez déjà fait, contactez la boutique en indiquant l’identifiant de la transaction.',
  },
  notFound: {
    title: 'Aucun paiement ici',
    text: 'Ce lien ne mène à aucun paiement. Vérifiez qu’il est complet ou demandez-en un nouveau à la boutique.',
  },
  unavailable: {
    title: 'Un instant',
    text: 'Le paiement ne peut pas être affiché pour le moment. Rien n’est perdu : ce que vous avez envoyé n’est pas affecté. Cette page réessaie d’elle-même.',
  },

  confirmations: 'Confirmations : {seen} sur {required}',
  awaitingFinality: 'Il ne manque plus que la validation définitive du réseau.',
  finalityHint: 'Pour les montants élevés, cela peut prendre plusieurs minutes.',

  amount: 'Montant',
  sendExactly: 'Envoyez exactement',
  exactAmount: 'À saisir ou à coller : {amount}',
  amountHint: 'Envoyez-le en un seul transfert. Ce montant identifie votre paiement.',
  lastDigits: 'Envoyez aussi les derniers chiffres, {digits}. Ils nous permettent de reconnaître votre paiement.',
  exchange: 'Vous envoyez depuis une plateforme d’échange ?',
  exchangeNetwork: 'Choisissez {network} comme réseau.',
  exchangeFee:
    'Beaucoup de plateformes prélèvent leurs frais sur le montant. Pour des frais de {fee}, saisissez {entered} afin que {amount} arrivent.',
  send: 'Envoyez',
  partsHint:
    'Tout ce qui arrive à cette adresse compte pour ce paiement. Vous pouvez envoyer le montant en plusieurs fois.',
  received: '{arrived} reçus sur {asked}',
  sendRest: 'Envoyez le reste, {missing}, à la même adresse.',
  overpaid:
    'Le montant reçu dépasse le montant demandé : {arrived} au lieu de {asked}. Contactez la boutique au sujet de la différence.',
  expiredReceived:
    'Le délai était écoulé, mais la boutique peut encore accepter l’argent. Veuillez ne pas payer une seconde fois.',
  cancelledReceived:
    'Le paiement a été annulé, mais la boutique peut encore accepter l’argent. Veuillez ne pas payer une seconde fois.',
  network: 'Réseau',
  networkName: '{currency} sur le réseau {network}',
  networkWarning: 'Envoyé sur un autre réseau ou dans une autre cryptomonnaie, l’argent est perdu.',
  recipient: 'Adresse',
  recipientHint: 'Après l’avoir collée, comparez le début et la fin.',
  payee: 'Paiement à',
  back: 'Retour à la boutique',
  payAgain: 'Retour à la boutique pour un nouveau paiement',
  paidAt: 'Payé le',
  print: 'Imprimer le reçu',
  receipt: 'Obtenir un reçu',
  reference: 'Référence',
  arrivedAmount: 'Reçu',
  askedAmount: 'Demandé',
  notSent: 'Je n’ai encore rien envoyé',
  contactShop: 'Contactez la boutique en indiquant cette référence : {reference}',
  contactNamed: 'Contactez {shop} en indiquant cette référence : {reference}',
  unreadable:
    'Nous ne pouvons pas lire {network} pour le moment. Un paiement que vous avez déjà envoyé n’est pas perdu : nous le détecterons plus tard. Veuillez ne pas payer une seconde fois.',
  description: 'Description',
  price: 'Prix',
  priceAt: '{price}, au taux de {rate}',
  timeLeft: 'Temps restant',
  payBefore: 'À payer avant :',

  copy: 'Copier',
  copyAmount: 'Copier le montant',
  copyRecipient: 'Copier l’adresse',
  copied: 'Copié',
  copyFailed: 'La copie n’est pas possible ici. Veuillez sélectionner le texte vous-même.',

  qrOfRecipient: 'Code QR de l’adresse',
  qrOfLink: 'Code QR avec adresse et montant',
  qrChoice: 'Contenu du code QR',
  qrRecipient: 'Adresse seule',
  qrLink: 'Avec le montant',
  qrLinkHint:
    'Vérifiez l’adresse et le montant dans votre portefeuille. S’il ne lit pas ce code, utilisez l’adresse seule.',
  openWallet: 'Ouvrir dans un portefeuille',
  fillsAll: 'Vérifiez le jeton, le réseau, l’adresse et le montant dans l’application avant d’envoyer.',
  fillsRecipient: 'L’application remplit l’adresse. Choisissez {currency} et saisissez le montant.',

  wallet: {
    payWith: 'Payer avec {wallet}',
    payHere: 'Payer avec le portefeuille de ce navigateur',
    hint: 'Votre portefeuille affiche réseau, adresse et montant. Vérifiez-les, puis confirmez.',
    confirm: 'Ouvrez votre portefeuille et confirmez-y le paiement.',
    look: 'Votre portefeuille n’a pas répondu. Regardez-y : le paiement attend peut-être, ou est déjà envoyé.',
    refused: 'Vous avez refusé dans votre portefeuille. Rien n’a été envoyé.',
    wrongChain: 'Votre portefeuille est sur un autre réseau. Choisissez-y {network} et réessayez. Rien n’a été envoyé.',
    noTokens: 'Ce compte a moins de {amount} sur {network}. Rien n’a été envoyé.',
    noGas: 'Ce compte n’a pas assez de {coin} pour les frais de réseau. Rien n’a été envoyé.',
    failed: 'Votre portefeuille signale une erreur. Rien n’a été envoyé.',
    unclear: 'Votre portefeuille signale une erreur. Regardez-y d’abord : le paiement a peut-être été envoyé.',
    sent: 'Envoyé. En attente du réseau. Veuillez ne pas payer une seconde fois.',
    reverted: 'Le réseau a rejeté le transfert, l’argent n’a donc pas été envoyé. Vous pouvez réessayer.',
    before: 'Vous avez déjà envoyé un paiement depuis cette page. N’envoyez le reste que s’il est arrivé.',
    again: 'Rien n’a été envoyé : réessayer',
    rest: 'Payer le reste',
    anyway: 'Essayer quand même',
    apps: 'Ou ouvrez la page dans un portefeuille :',
  },

  help: 'J’ai payé, mais rien ne se passe',
  helpText:
    'Collez l’identifiant de la transaction (TxID, hash) de votre portefeuille ou plateforme. Nous le cherchons sur le réseau.',
  transactionId: 'Identifiant de la transaction',
  lookUp: 'Rechercher',
  askShop: 'Toujours pas clair ? Contactez la boutique en indiquant cette référence : {reference}',
  lookup: {
    pays_this_payment: 'Ce transfert règle ce paiement. Vous n’avez plus rien à faire.',
    other_amount:
      'Ce transfert est arrivé à la bonne adresse, mais avec un autre montant. Veuillez ne pas payer une seconde fois : contactez la boutique.',
    other_address:
      'Ce transfert est allé à une autre adresse que celle de ce paiement. Vérifiez dans votre portefeuille où vous l’avez envoyé.',
    other_network:
      'Ce transfert a été fait sur un autre réseau que celui demandé. Veuillez ne pas payer une seconde fois : contactez la boutique.',
    other_token:
      'Cette transaction a envoyé un autre jeton ou une autre monnaie que celle demandée. Veuillez contacter la boutique.',
    failed:
      'Cette transaction a échoué et l’argent n’a pas été envoyé. Voyez pourquoi dans votre portefeuille avant de réessayer.',
    pending:
      'Cette transaction est en route. Veuillez ne pas payer une seconde fois ; recherchez-la de nouveau dans quelques minutes.',
    too_late:
      'Ce transfert est arrivé après la fin de ce paiement. Veuillez ne pas payer une seconde fois : contactez la boutique.',
    not_for_this_payment:
      'Ce transfert ne compte pas pour ce paiement : il lui est antérieur ou a été envoyé deux fois. S’il est de vous, contactez la boutique.',
    unknown:
      'Aucun réseau ne connaît cette transaction. Vérifiez l’identifiant ; si vous venez de payer, recherchez-la de nouveau dans quelques minutes.',
    not_read_yet:
      'La recherche n’est pas possible pour le moment. Votre argent n’est pas affecté ; veuillez réessayer dans quelques minutes.',
    no_transaction_id:
      'Ce n’est pas un identifiant de transaction. Il a 64 caractères, des chiffres et les lettres de a à f, souvent précédés de 0x.',
    asked_too_often: 'Trop de recherches. Veuillez attendre une minute avant de rechercher de nouveau.',
  },

  language: 'Langue',
  offline: 'Pas de connexion. Cette page réessaie d’elle-même ; votre paiement n’est pas affecté.',
  selfRefresh: 'Cette page se recharge d’elle-même toutes les {seconds} secondes.',
  refresh: 'Recharger maintenant',
};
