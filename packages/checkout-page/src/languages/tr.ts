import type { Texts } from './texts.ts';

export const tr: Texts = {
  waiting: {
    title: 'Ödemeniz bekleniyor',
    text: 'Bu adrese tam olarak bu tutarı gönderin. Ödeme ulaştığında bu sayfa bunu kendiliğinden fark eder.',
  },
  over: {
    title: 'Süre doldu',
    text: 'Lütfen artık hiçbir şey göndermeyin. Son blokları kontrol ediyoruz: zamanında yapılmış bir ödeme yine de geçerlidir.',
  },
  seen: {
    title: 'Ödeme bulundu',
    text: 'Ağ, ödemeyi onaylıyor. Lütfen yeniden göndermeyin. Bu sayfayı kapatabilirsiniz.',
  },
  paid: { title: 'Ödendi', text: 'Ödeme ulaştı ve onaylandı. Teşekkür ederiz.' },
  expired: {
    title: 'Bu ödemenin süresi doldu',
    text: 'Lütfen bu adrese artık hiçbir şey göndermeyin. Gönderdiyseniz mağazayla iletişime geçip işlem kimliğini (TxID) bildirin.',
  },
  cancelled: {
    title: 'Bu ödeme iptal edildi',
    text: 'Lütfen bu adrese hiçbir şey göndermeyin. Gönderdiyseniz mağazayla iletişime geçip işlem kimliğini (TxID) bildirin.',
  },
  notFound: {
    title: 'Burada ödeme yok',
    text: 'Bu bağlantı hiçbir ödemeye ait değil. Lütfen eksiksiz olduğunu kontrol edin veya mağazadan yenisini isteyin.',
  },
  unavailable: {
    title: 'Lütfen biraz bekleyin',
    text: 'Ödeme şu anda gösterilemiyor. Kaybolan bir şey yok: gönderdiğiniz para bundan etkilenmez. Bu sayfa kendiliğinden yeniden dener.',
  },

  confirmations: 'Onay sayısı: {seen} / {required}',
  awaitingFinality: 'Yalnızca ağın kesin onayı eksik.',

  amount: 'Tutar',
  exactAmount: 'Yazmak veya yapıştırmak için: {amount}',
  amountHint: 'Tam olarak bu tutar, tek bir transferde: ödemeniz bu tutardan tanınır.',
  feeHint: 'Borsadan mı gönderiyorsunuz? Borsa, ücretini tutardan kesebilir. Tam olarak {amount} ulaşmalıdır.',
  network: 'Ağ',
  networkName: '{network} ağında {currency}',
  networkWarning: 'Başka bir ağdan veya başka bir kripto para olarak gönderirseniz para kaybolur.',
  recipient: 'Adres',
  recipientHint: 'Yapıştırdıktan sonra başını ve sonunu karşılaştırın.',
  description: 'Açıklama',
  timeLeft: 'Kalan süre',
  payBefore: 'Son ödeme zamanı',

  copy: 'Kopyala',
  copyAmount: 'Tutarı kopyala',
  copyRecipient: 'Adresi kopyala',
  copied: 'Kopyalandı',
  copyFailed: 'Burada kopyalama yapılamıyor. Lütfen metni kendiniz seçin.',

  qrOfRecipient: 'Adresin QR kodu',
  qrOfLink: 'Cüzdan uygulamaları için QR kodu',
  qrChoice: 'QR kodunun içeriği',
  qrRecipient: 'Adres',
  qrLink: 'Cüzdan bağlantısı',
  qrLinkHint: 'Bu kodu her cüzdan uygulaması anlamaz. Göndermeden önce ağı, adresi ve tutarı kontrol edin.',
  openWallet: 'Cüzdan uygulamasında aç',

  language: 'Dil',
  offline: 'Bağlantı yok. Bu sayfa kendiliğinden yeniden dener; ödemeniz etkilenmez.',
  selfRefresh: 'Bu sayfa {seconds} saniyede bir kendiliğinden yenilenir.',
  refresh: 'Şimdi yenile',
};
