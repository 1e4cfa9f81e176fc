import type { Texts } from './texts.ts';

export const tr: Texts = {
  waiting: {
    title: 'Ödemeniz bekleniyor',
    text: 'Ödeme ulaştığında bu sayfa bunu kendiliğinden fark eder.',
  },
  over: {
    title: 'Süre doldu',
    text: 'Lütfen artık hiçbir şey göndermeyin. Son blokları kontrol ediyoruz: zamanında yapılmış bir ödeme yine de geçerlidir.',
  },
  arrived: { title: '{amount} bu adrese ulaştı', text: 'Gönderen sizseniz yeniden ödemeyin.' },
  frozen: {
    title: 'Bu adres dondurulmuş',
    text: 'Tokeni çıkaran kuruluş bu adresi dondurdu. Lütfen hiçbir şey göndermeyin: daha önce ödemiş olsanız bile mağazayla iletişime geçin.',
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
  finalityHint: 'Büyük tutarlarda bu birkaç dakika sürebilir.',

  amount: 'Tutar',
  sendExactly: 'Tam olarak gönderin',
  exactAmount: 'Yazmak veya yapıştırmak için: {amount}',
  amountHint: 'Tam olarak bu tutar, tek bir transferde: ödemeniz bu tutardan tanınır.',
  lastDigits: 'Son rakamlar da ({digits}) gönderilmelidir: ödemeniz onlardan tanınır.',
  feeHint: 'Borsadan mı gönderiyorsunuz? Borsa, ücretini tutardan kesebilir. Tam olarak {amount} ulaşmalıdır.',
  send: 'Gönderin',
  partsHint: 'Bu adrese ulaşan her şey bu ödeme için sayılır. Tutarı parça parça gönderebilirsiniz.',
  received: 'Ulaşan tutar: {arrived} / {asked}',
  sendRest: 'Kalan tutarı ({missing}) aynı adrese gönderin.',
  overpaid: 'İstenenden fazlası ulaştı: {asked} yerine {arrived}. Fazlası için mağazayla iletişime geçin.',
  expiredReceived: 'Süre dolmuştu, ama mağaza parayı yine de kabul edebilir. Lütfen yeniden ödemeyin.',
  cancelledReceived: 'Ödeme iptal edildi, ama mağaza parayı yine de kabul edebilir. Lütfen yeniden ödemeyin.',
  network: 'Ağ',
  networkName: '{network} ağında {currency}',
  networkWarning: 'Başka bir ağdan veya başka bir kripto para olarak gönderirseniz para kaybolur.',
  recipient: 'Adres',
  recipientHint: 'Yapıştırdıktan sonra başını ve sonunu karşılaştırın.',
  payee: 'Ödeme alıcısı',
  back: 'Mağazaya dön',
  reference: 'Referans',
  arrivedAmount: 'Ulaşan',
  askedAmount: 'İstenen',
  notSent: 'Henüz hiçbir şey göndermedim',
  contactShop: 'Mağazayla iletişime geçip bu referansı bildirin: {reference}',
  contactNamed: '{shop} ile iletişime geçip bu referansı bildirin: {reference}',
  unreadable:
    '{network} ağını şu anda okuyamıyoruz. Gönderdiğiniz ödeme kaybolmaz: onu daha sonra fark edeceğiz. Lütfen yeniden ödemeyin.',
  description: 'Açıklama',
  price: 'Fiyat',
  priceAt: '{price}, kur: {rate}',
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
  fillsAll:
    'Uygulama token’ı, ağı, adresi ve tutarı doldurmalıdır. Her uygulama bunu yapmaz: göndermeden önce karşılaştırın.',
  fillsRecipient: 'Uygulama yalnızca adresi doldurur. {currency} seçip tutarı kendiniz girin.',

  help: 'Ödedim ama hiçbir şey olmuyor',
  helpText: 'Cüzdanınızdaki veya borsadaki işlem kimliğini (TxID, hash) yapıştırın. Onu ağda ararız.',
  transactionId: 'İşlem kimliği',
  lookUp: 'Sorgula',
  askShop: 'Hâlâ net değil mi? Mağazayla iletişime geçip bu referansı bildirin: {reference}',
  lookup: {
    pays_this_payment: 'Bu transfer bu ödemeyi karşılıyor. Başka bir şey yapmanız gerekmez.',
    other_amount:
      'Bu transfer doğru adrese ulaştı, ama tutarı farklı. Lütfen yeniden ödemeyin: mağazayla iletişime geçin.',
    other_address:
      'Bu transfer, bu ödemenin adresine değil, başka bir adrese gitti. Nereye gönderdiğinizi cüzdanınızdan kontrol edin.',
    other_network:
      'Bu transfer, istenen ağda değil, başka bir ağda yapıldı. Lütfen yeniden ödemeyin: mağazayla iletişime geçin.',
    other_token: 'Bu işlemle istenenden başka bir token veya coin gönderildi. Lütfen mağazayla iletişime geçin.',
    failed: 'Bu işlem başarısız oldu, para gönderilmedi. Yeniden denemeden önce nedenine cüzdanınızdan bakın.',
    pending: 'Bu işlem yolda. Lütfen yeniden ödemeyin; birkaç dakika sonra bir kez daha sorgulayın.',
    too_late:
      'Bu transfer, bu ödemenin süresi bittikten sonra ulaştı. Lütfen yeniden ödemeyin: mağazayla iletişime geçin.',
    not_for_this_payment:
      'Bu transfer bu ödeme için sayılmaz: ondan önce yapılmış ya da fazladan. Sizinse mağazayla iletişime geçin.',
    unknown:
      'Hiçbir ağ bu işlemi tanımıyor. Kimliği kontrol edin; yeni ödediyseniz birkaç dakika sonra yeniden sorgulayın.',
    not_read_yet: 'Şu anda sorgulanamıyor. Paranız etkilenmez; lütfen birkaç dakika sonra yeniden deneyin.',
    no_transaction_id:
      'Bu bir işlem kimliği değil. Kimlik 64 karakterdir, rakamlardan ve a ile f arası harflerden oluşur, çoğu zaman başında 0x vardır.',
    asked_too_often: 'Çok sık sorguladınız. Yeniden sorgulamadan önce lütfen bir dakika bekleyin.',
  },

  language: 'Dil',
  offline: 'Bağlantı yok. Bu sayfa kendiliğinden yeniden dener; ödemeniz etkilenmez.',
  selfRefresh: 'Bu sayfa {seconds} saniyede bir kendiliğinden yenilenir.',
  refresh: 'Şimdi yenile',
};
