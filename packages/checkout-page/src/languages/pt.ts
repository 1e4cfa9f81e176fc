import type { Texts } from './texts.ts';

export const pt: Texts = {
  waiting: {
    title: 'Aguardamos o seu pagamento',
    text: 'Esta página se atualiza sozinha quando o pagamento chegar.',
  },
  over: {
    title: 'O tempo acabou',
    text: 'Por favor, não envie mais nada. Ainda verificamos os últimos blocos: um pagamento feito a tempo continua válido.',
  },
  arrived: { title: 'Chegaram {amount} a este endereço', text: 'Se o envio foi seu, não pague de novo.' },
  frozen: {
    title: 'Este endereço está bloqueado',
    text: 'O emissor do token congelou este endereço. Por favor, não envie nada: fale com a loja, mesmo que já tenha pago.',
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
  finalityHint: 'Para valores altos, isso pode demorar alguns minutos.',

  amount: 'Valor',
  sendExactly: 'Envie exatamente',
  exactAmount: 'Para digitar ou colar: {amount}',
  amountHint: 'Envie de uma só vez. Este valor identifica o seu pagamento.',
  lastDigits: 'Envie também os últimos dígitos, {digits}. Reconhecemos o seu pagamento por eles.',
  exchange: 'Vai enviar de uma exchange?',
  exchangeNetwork: 'Escolha {network} como rede.',
  exchangeFee:
    'Muitas exchanges descontam a taxa do valor. Com uma taxa de {fee}, digite {entered} para que cheguem {amount}.',
  send: 'Envie',
  partsHint: 'Tudo o que chegar a este endereço conta para este pagamento. Pode enviar em partes.',
  received: 'Recebidos {arrived} de {asked}',
  sendRest: 'Envie o restante, {missing}, para o mesmo endereço.',
  overpaid: 'Chegou mais do que o valor pedido: {arrived} em vez de {asked}. Fale com a loja sobre a diferença.',
  expiredReceived: 'O tempo tinha acabado, mas a loja ainda pode aceitar o dinheiro. Por favor, não pague de novo.',
  cancelledReceived:
    'O pagamento foi cancelado, mas a loja ainda pode aceitar o dinheiro. Por favor, não pague de novo.',
  network: 'Rede',
  networkName: '{currency} na rede {network}',
  networkWarning: 'Se enviar por outra rede ou em outra criptomoeda, perderá o dinheiro.',
  recipient: 'Endereço',
  recipientHint: 'Depois de colar, compare o início e o fim.',
  payee: 'Pagamento a',
  back: 'Voltar à loja',
  payAgain: 'Voltar à loja para um novo pagamento',
  paidAt: 'Pago em',
  print: 'Imprimir recibo',
  receipt: 'Obter um recibo',
  reference: 'Referência',
  arrivedAmount: 'Recebido',
  askedAmount: 'Solicitado',
  notSent: 'Ainda não enviei nada',
  contactShop: 'Fale com a loja e indique esta referência: {reference}',
  contactNamed: 'Fale com {shop} e indique esta referência: {reference}',
  unreadable:
    'Neste momento não conseguimos ler a rede {network}. Um pagamento que já enviou não se perdeu: vamos detectá-lo mais tarde. Por favor, não pague de novo.',
  description: 'Descrição',
  price: 'Preço',
  priceAt: '{price}, à taxa de {rate}',
  timeLeft: 'Tempo restante',
  payBefore: 'Pague antes de',

  copy: 'Copiar',
  copyAmount: 'Copiar o valor',
  copyRecipient: 'Copiar o endereço',
  copied: 'Copiado',
  copyFailed: 'Não é possível copiar aqui. Selecione o texto manualmente.',

  qrOfRecipient: 'Código QR do endereço',
  qrOfLink: 'Código QR com endereço e valor',
  qrChoice: 'Conteúdo do código QR',
  qrRecipient: 'Só o endereço',
  qrLink: 'Com valor',
  qrLinkHint: 'Verifique o endereço e o valor na carteira. Se ela não ler este código, use só o endereço.',
  openWallet: 'Abrir na carteira',
  fillsAll: 'Verifique token, rede, endereço e valor no app antes de enviar.',
  fillsRecipient: 'O app preenche o endereço. Escolha {currency} e digite o valor.',

  wallet: {
    payWith: 'Pagar com {wallet}',
    payHere: 'Pagar com a carteira deste navegador',
    hint: 'Sua carteira mostra rede, endereço e valor. Verifique-os e confirme.',
    confirm: 'Abra sua carteira e confirme o pagamento nela.',
    look: 'Sua carteira não respondeu. Veja nela: o pagamento pode estar à espera ou já ter sido enviado.',
    refused: 'Você recusou na sua carteira. Nada foi enviado.',
    wrongChain: 'Sua carteira está em outra rede. Escolha {network} nela e tente de novo. Nada foi enviado.',
    noTokens: 'Esta conta tem menos de {amount} na rede {network}. Nada foi enviado.',
    noGas: 'Esta conta não tem {coin} suficiente para a taxa da rede. Nada foi enviado.',
    failed: 'Sua carteira informa um erro. Nada foi enviado.',
    unclear: 'Sua carteira informa um erro. Veja nela primeiro: o pagamento pode ter sido enviado.',
    sent: 'Enviado. Aguardando a rede. Por favor, não pague de novo.',
    reverted: 'A rede rejeitou a transferência, por isso o dinheiro não foi enviado. Você pode tentar de novo.',
    before: 'Você já enviou um pagamento por esta página. Envie o resto só se ele tiver chegado.',
    again: 'Não foi enviado: tentar de novo',
    rest: 'Pagar o resto',
    anyway: 'Tentar mesmo assim',
    apps: 'Ou abra esta página em uma carteira:',
  },

  help: 'Já paguei, mas nada acontece',
  helpText: 'Cole o ID da transação (TxID, hash) da sua carteira ou exchange. Vamos procurá-lo na rede.',
  transactionId: 'ID da transação',
  lookUp: 'Procurar',
  askShop: 'Ainda tem dúvidas? Fale com a loja e indique esta referência: {reference}',
  lookup: {
    pays_this_payment: 'Esta transferência paga este pagamento. Não precisa fazer mais nada.',
    other_amount:
      'Esta transferência chegou ao endereço certo, mas com outro valor. Por favor, não pague de novo: fale com a loja.',
    other_address:
      'Esta transferência foi para um endereço diferente do deste pagamento. Verifique na sua carteira para onde enviou.',
    other_network:
      'Esta transferência foi feita numa rede diferente da pedida. Por favor, não pague de novo: fale com a loja.',
    other_token: 'Esta transação enviou um token ou uma moeda diferente da pedida. Por favor, fale com a loja.',
    failed:
      'Esta transação falhou e o dinheiro não foi enviado. Veja na sua carteira o motivo antes de tentar de novo.',
    pending: 'Esta transação está a caminho. Por favor, não pague de novo; procure outra vez dentro de alguns minutos.',
    too_late: 'Esta transferência chegou depois do fim deste pagamento. Por favor, não pague de novo: fale com a loja.',
    not_for_this_payment:
      'Esta transferência não conta para este pagamento: é anterior a ele ou foi enviada duas vezes. Se for sua, fale com a loja.',
    unknown:
      'Nenhuma rede conhece esta transação. Verifique o ID; se acabou de pagar, procure outra vez dentro de alguns minutos.',
    not_read_yet:
      'Não é possível procurar agora. O seu dinheiro não é afetado; tente de novo dentro de alguns minutos.',
    no_transaction_id:
      'Isto não é um ID de transação. Ele tem 64 caracteres, dígitos e as letras de a até f, muitas vezes com 0x à frente.',
    asked_too_often: 'Foram procuras demais. Espere um minuto antes de procurar de novo.',
  },

  language: 'Idioma',
  offline: 'Sem conexão. Esta página tenta de novo automaticamente; o seu pagamento não é afetado.',
  selfRefresh: 'Esta página recarrega automaticamente a cada {seconds} segundos.',
  refresh: 'Recarregar agora',
};
