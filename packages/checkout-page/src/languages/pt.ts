import type { Texts } from './texts.ts';

export const pt: Texts = {
  waiting: {
    title: 'Aguardamos o seu pagamento',
    text: 'Envie exatamente este valor para este endereço. Esta página percebe automaticamente quando o pagamento chega.',
  },
  over: {
    title: 'O tempo acabou',
    text: 'Por favor, não envie mais nada. Ainda verificamos os últimos blocos: um pagamento feito a tempo continua válido.',
  },
  seen: {
    title: 'Pagamento encontrado',
    text: 'A confirmação na rede está em andamento. Por favor, não envie de novo. Pode fechar esta página.',
  },
  paid: { title: 'Pago', text: 'O pagamento chegou e está confirmado. Obrigado.' },
  expired: {
    title: 'Este pagamento expirou',
    text: 'Por favor, não envie mais nada para este endereço. Se já enviou, fale com a loja e indique o ID da transação.',
  },
  cancelled: {
    title: 'Este pagamento foi cancelado',
    text: 'Por favor, não envie nada para este endereço. Se já enviou, fale com a loja e indique o ID da transação.',
  },
  notFound: {
    title: 'Não há pagamento aqui',
    text: 'Este link não leva a nenhum pagamento. Verifique se está completo ou peça um novo à loja.',
  },
  unavailable: {
    title: 'Só um momento',
    text: 'Não é possível mostrar o pagamento agora. Nada se perdeu: o que já enviou não é afetado. Esta página tenta de novo automaticamente.',
  },

  confirmations: 'Confirmações: {seen} de {required}',
  awaitingFinality: 'Só falta a confirmação definitiva da rede.',

  amount: 'Valor',
  exactAmount: 'Para digitar ou colar: {amount}',
  amountHint: 'Exatamente este valor, numa única transferência: é por ele que o seu pagamento é reconhecido.',
  feeHint: 'Vai enviar de uma exchange? Ela pode descontar a taxa do valor. Devem chegar exatamente {amount}.',
  network: 'Rede',
  networkName: '{currency} na rede {network}',
  networkWarning: 'Se enviar por outra rede ou em outra criptomoeda, perderá o dinheiro.',
  recipient: 'Endereço',
  recipientHint: 'Depois de colar, compare o início e o fim.',
  description: 'Descrição',
  timeLeft: 'Tempo restante',
  payBefore: 'Pague antes de',

  copy: 'Copiar',
  copyAmount: 'Copiar o valor',
  copyRecipient: 'Copiar o endereço',
  copied: 'Copiado',
  copyFailed: 'Não é possível copiar aqui. Selecione o texto manualmente.',

  qrOfRecipient: 'Código QR do endereço',
  qrOfLink: 'Código QR para apps de carteira',
  qrChoice: 'Conteúdo do código QR',
  qrRecipient: 'Endereço',
  qrLink: 'Link de carteira',
  qrLinkHint: 'Nem todas as carteiras entendem este código. Verifique a rede, o endereço e o valor antes de enviar.',
  openWallet: 'Abrir na carteira',

  language: 'Idioma',
  offline: 'Sem conexão. Esta página tenta de novo automaticamente; o seu pagamento não é afetado.',
  selfRefresh: 'Esta página recarrega automaticamente a cada {seconds} segundos.',
  refresh: 'Recarregar agora',
};
