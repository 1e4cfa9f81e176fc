import type { Texts } from './texts.ts';

export const fr: Texts = {
  waiting: {
    title: 'En attente de votre paiement',
    text: 'Envoyez exactement ce montant à cette adresse. Cette page détecte d’elle-même l’arrivée du paiement.',
  },
  over: {
    title: 'Le délai est écoulé',
    text: 'Veuillez ne plus rien envoyer. Nous examinons les derniers blocs : un paiement effectué à temps reste valable.',
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

  amount: 'Montant',
  exactAmount: 'À saisir ou à coller : {amount}',
  amountHint: 'Exactement ce montant, en un seul transfert : c’est lui qui permet de reconnaître votre paiement.',
  feeHint:
    'Vous envoyez depuis une plateforme d’échange ? Elle peut prélever ses frais sur le montant. Il doit arriver exactement {amount}.',
  network: 'Réseau',
  networkName: '{currency} sur le réseau {network}',
  networkWarning: 'Envoyé sur un autre réseau ou dans une autre cryptomonnaie, l’argent est perdu.',
  recipient: 'Adresse',
  recipientHint: 'Après l’avoir collée, comparez le début et la fin.',
  description: 'Description',
  timeLeft: 'Temps restant',
  payBefore: 'À payer avant :',

  copy: 'Copier',
  copyAmount: 'Copier le montant',
  copyRecipient: 'Copier l’adresse',
  copied: 'Copié',
  copyFailed: 'La copie n’est pas possible ici. Veuillez sélectionner le texte vous-même.',

  qrOfRecipient: 'Code QR de l’adresse',
  qrOfLink: 'Code QR pour portefeuilles crypto',
  qrChoice: 'Contenu du code QR',
  qrRecipient: 'Adresse',
  qrLink: 'Lien de portefeuille',
  qrLinkHint:
    'Certains portefeuilles ne comprennent pas ce code. Vérifiez le réseau, l’adresse et le montant avant d’envoyer.',
  openWallet: 'Ouvrir dans un portefeuille',

  language: 'Langue',
  offline: 'Pas de connexion. Cette page réessaie d’elle-même ; votre paiement n’est pas affecté.',
  selfRefresh: 'Cette page se recharge d’elle-même toutes les {seconds} secondes.',
  refresh: 'Recharger maintenant',
};
