import type { Texts } from './texts.ts';

export const es: Texts = {
  waiting: {
    title: 'Esperando su pago',
    text: 'Envíe exactamente este importe a esta dirección. Esta página detecta por sí sola la llegada del pago.',
  },
  over: {
    title: 'El tiempo ha terminado',
    text: 'Por favor, ya no envíe nada. Estamos revisando los últimos bloques: un pago hecho a tiempo sigue siendo válido.',
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

  amount: 'Importe',
  exactAmount: 'Para escribir o pegar: {amount}',
  amountHint: 'Exactamente este importe y en una sola transferencia: el importe permite reconocer su pago.',
  feeHint: '¿Envía desde un exchange? Puede que descuente su comisión del importe. Deben llegar exactamente {amount}.',
  network: 'Red',
  networkName: '{currency} en la red {network}',
  networkWarning: 'Si lo envía por otra red o en otra criptomoneda, el dinero se pierde.',
  recipient: 'Dirección',
  recipientHint: 'Después de pegarla, compare el principio y el final.',
  description: 'Descripción',
  timeLeft: 'Tiempo restante',
  payBefore: 'Pague antes de:',

  copy: 'Copiar',
  copyAmount: 'Copiar el importe',
  copyRecipient: 'Copiar la dirección',
  copied: 'Copiado',
  copyFailed: 'Aquí no se puede copiar. Seleccione el texto manualmente.',

  qrOfRecipient: 'Código QR de la dirección',
  qrOfLink: 'Código QR para apps de billetera',
  qrChoice: 'Contenido del código QR',
  qrRecipient: 'Dirección',
  qrLink: 'Enlace de billetera',
  qrLinkHint:
    'No todas las billeteras entienden este código. Compruebe la red, la dirección y el importe antes de enviar.',
  openWallet: 'Abrir en una billetera',

  language: 'Idioma',
  offline: 'Sin conexión. Esta página volverá a intentarlo por sí sola; su pago no se ve afectado.',
  selfRefresh: 'Esta página se recarga sola cada {seconds} segundos.',
  refresh: 'Recargar ahora',
};
