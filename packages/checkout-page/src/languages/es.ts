import type { Texts } from './texts.ts';

export const es: Texts = {
  waiting: {
    title: 'Esperando su pago',
    text: 'Esta página se actualiza sola cuando llega el pago.',
  },
  over: {
    title: 'El tiempo ha terminado',
    text: 'Por favor, ya no envíe nada. Estamos revisando los últimos bloques: un pago hecho a tiempo sigue siendo válido.',
  },
  arrived: { title: 'Han llegado {amount} a esta dirección', text: 'Si ha sido usted, no pague otra vez.' },
  frozen: {
    title: 'Esta dirección está bloqueada',
    text: 'El emisor del token la ha congelado. Por favor, no envíe nada: póngase en contacto con la tienda, aunque ya haya pagado.',
  },
  seen: {
    title: 'Pago detectado',
    text: 'La red lo está confirmando. Por favor, no lo envíe otra vez. Puede cerrar esta página.',
  },
  paid: { title: 'Pagado', text: 'El pago ha llegado y está confirmado. Gracias.' },
  expired: {
    title: 'Este pago ha expirado',
    text: 'Por favor, ya no envíe nada a esta dirección. Si ya lo hizo, póngase en contacto con la tienda e indique el ID de la transacción.',
  },
  cancelled: {
    title: 'Este pago ha sido cancelado',
    text: 'Por favor, no envíe nada a esta dirección. Si ya lo hizo, póngase en contacto con la tienda e indique el ID de la transacción.',
  },
  notFound: {
    title: 'Aquí no hay ningún pago',
    text: 'Este enlace no lleva a ningún pago. Compruebe que esté completo o pida uno nuevo a la tienda.',
  },
  unavailable: {
    title: 'Un momento',
    text: 'El pago no se puede mostrar ahora mismo. No se ha perdido nada: lo que haya enviado no se ve afectado. Esta página volverá a intentarlo por sí sola.',
  },

  confirmations: 'Confirmaciones: {seen} de {required}',
  awaitingFinality: 'Solo falta la confirmación definitiva de la red.',
  finalityHint: 'Con importes grandes puede tardar varios minutos.',

  amount: 'Importe',
  sendExactly: 'Envíe exactamente',
  exactAmount: 'Para escribir o pegar: {amount}',
  amountHint: 'Envíelo en una sola transferencia. Reconocemos su pago por este importe.',
  lastDigits: 'Envíe también las últimas cifras, {digits}. Por ellas reconocemos su pago.',
  exchange: '¿Envía desde un exchange?',
  exchangeNetwork: 'Elija {network} como red.',
  exchangeFee:
    'Muchos exchanges descuentan su comisión del importe. Con una comisión de {fee}, introduzca {entered} para que lleguen {amount}.',
  send: 'Envíe',
  partsHint: 'Todo lo que llegue a esta dirección cuenta para este pago. Puede enviarlo en varias partes.',
  received: 'Recibidos {arrived} de {asked}',
  sendRest: 'Envíe el resto, {missing}, a la misma dirección.',
  overpaid:
    'Ha llegado más del importe pedido: {arrived} en lugar de {asked}. Póngase en contacto con la tienda por la diferencia.',
  expiredReceived:
    'El tiempo había terminado, pero la tienda aún puede aceptar el dinero. Por favor, no pague otra vez.',
  cancelledReceived: 'El pago fue cancelado, pero la tienda aún puede aceptar el dinero. Por favor, no pague otra vez.',
  network: 'Red',
  networkName: '{currency} en la red {network}',
  networkWarning: 'Si lo envía por otra red o en otra criptomoneda, el dinero se pierde.',
  recipient: 'Dirección',
  recipientHint: 'Después de pegarla, compare el principio y el final.',
  payee: 'Pago a',
  back: 'Volver a la tienda',
  payAgain: 'Volver a la tienda para un nuevo pago',
  paidAt: 'Pagado el',
  print: 'Imprimir recibo',
  receipt: 'Obtener un recibo',
  reference: 'Referencia',
  arrivedAmount: 'Recibido',
  askedAmount: 'Solicitado',
  notSent: 'Todavía no he enviado nada',
  contactShop: 'Póngase en contacto con la tienda e indique esta referencia: {reference}',
  contactNamed: 'Póngase en contacto con {shop} e indique esta referencia: {reference}',
  unreadable:
    'En este momento no podemos leer {network}. Un pago que ya haya enviado no se ha perdido: lo detectaremos más tarde. Por favor, no pague otra vez.',
  description: 'Descripción',
  price: 'Precio',
  priceAt: '{price}, al cambio de {rate}',
  timeLeft: 'Tiempo restante',
  payBefore: 'Pague antes de:',

  copy: 'Copiar',
  copyAmount: 'Copiar el importe',
  copyRecipient: 'Copiar la dirección',
  copied: 'Copiado',
  copyFailed: 'Aquí no se puede copiar. Seleccione el texto manualmente.',

  qrOfRecipient: 'Código QR de la dirección',
  qrOfLink: 'Código QR con dirección e importe',
  qrChoice: 'Contenido del código QR',
  qrRecipient: 'Solo la dirección',
  qrLink: 'Con importe',
  qrLinkHint: 'Compruebe la dirección y el importe en su billetera. Si no lee este código, use solo la dirección.',
  openWallet: 'Abrir en una billetera',
  fillsAll: 'Compruebe token, red, dirección e importe en la app antes de enviar.',
  fillsRecipient: 'La app rellena la dirección. Elija {currency} e introduzca el importe.',

  wallet: {
    payWith: 'Pagar con {wallet}',
    payHere: 'Pagar con la billetera de este navegador',
    hint: 'Su billetera muestra red, dirección e importe. Compruébelos y confirme.',
    confirm: 'Abra su billetera y confirme allí el pago.',
    look: 'Su billetera no ha respondido. Mire en ella: el pago puede estar esperando allí o ya enviado.',
    refused: 'Usted lo ha rechazado en su billetera. No se ha enviado nada.',
    wrongChain: 'Su billetera está en otra red. Elija {network} en ella e inténtelo de nuevo. No se ha enviado nada.',
    noTokens: 'Esta cuenta tiene menos de {amount} en {network}. No se ha enviado nada.',
    noGas: 'Esta cuenta no tiene suficiente {coin} para la comisión de la red. No se ha enviado nada.',
    failed: 'Su billetera indica un error. No se ha enviado nada.',
    unclear: 'Su billetera indica un error. Mire primero en ella: puede que el pago se haya enviado.',
    sent: 'Enviado. Esperando a la red. Por favor, no pague otra vez.',
    reverted: 'La red rechazó la transferencia, así que el dinero no se envió. Puede intentarlo de nuevo.',
    before: 'Ya ha enviado un pago desde esta página. Envíe el resto solo si ese pago ha llegado.',
    again: 'No se envió: intentar de nuevo',
    rest: 'Pagar el resto',
    anyway: 'Intentar de todos modos',
    apps: 'O abra esta página en una billetera:',
  },

  help: 'He pagado, pero no pasa nada',
  helpText: 'Pegue el ID de la transacción (TxID, hash) de su billetera o exchange. Lo buscaremos en la red.',
  transactionId: 'ID de la transacción',
  lookUp: 'Buscar',
  askShop: '¿Sigue sin estar claro? Póngase en contacto con la tienda e indique esta referencia: {reference}',
  lookup: {
    pays_this_payment: 'Esta transferencia paga este pago. No tiene que hacer nada más.',
    other_amount:
      'Esta transferencia llegó a la dirección correcta, pero con otro importe. Por favor, no pague otra vez: póngase en contacto con la tienda.',
    other_address:
      'Esta transferencia fue a una dirección distinta de la de este pago. Compruebe en su billetera adónde la envió.',
    other_network:
      'Esta transferencia se hizo por una red distinta de la pedida. Por favor, no pague otra vez: póngase en contacto con la tienda.',
    other_token:
      'Esta transacción envió un token o una moneda distinta de la pedida. Por favor, póngase en contacto con la tienda.',
    failed:
      'Esta transacción ha fallado y el dinero no se envió. Vea en su billetera por qué antes de intentarlo de nuevo.',
    pending: 'Esta transacción está en camino. Por favor, no pague otra vez; búsquela de nuevo dentro de unos minutos.',
    too_late:
      'Esta transferencia llegó después del final de este pago. Por favor, no pague otra vez: póngase en contacto con la tienda.',
    not_for_this_payment:
      'Esta transferencia no cuenta para este pago: es anterior a él o se envió dos veces. Si es suya, póngase en contacto con la tienda.',
    unknown:
      'Ninguna red conoce esta transacción. Compruebe el ID; si acaba de pagar, búsquela de nuevo dentro de unos minutos.',
    not_read_yet:
      'Ahora mismo no se puede buscar. Su dinero no se ve afectado; inténtelo de nuevo dentro de unos minutos.',
    no_transaction_id:
      'Esto no es un ID de transacción. Tiene 64 caracteres, cifras y las letras de la a a la f, a menudo con 0x delante.',
    asked_too_often: 'Han sido demasiadas búsquedas. Espere un minuto antes de buscar de nuevo.',
  },

  language: 'Idioma',
  offline: 'Sin conexión. Esta página volverá a intentarlo por sí sola; su pago no se ve afectado.',
  selfRefresh: 'Esta página se recarga sola cada {seconds} segundos.',
  refresh: 'Recargar ahora',
};
