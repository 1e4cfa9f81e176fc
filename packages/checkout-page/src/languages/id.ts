import type { Texts } from './texts.ts';

export const id: Texts = {
  waiting: {
    title: 'Menunggu pembayaran Anda',
    text: 'Halaman ini akan mengetahui sendiri saat pembayaran masuk.',
  },
  over: {
    title: 'Waktu habis',
    text: 'Mohon jangan kirim apa pun lagi. Kami sedang memeriksa blok-blok terakhir: pembayaran yang dilakukan tepat waktu tetap sah.',
  },
  arrived: { title: '{amount} telah masuk ke alamat ini', text: 'Jika itu dari Anda, jangan bayar lagi.' },
  frozen: {
    title: 'Alamat ini dibekukan',
    text: 'Penerbit token telah membekukannya. Mohon jangan kirim apa pun: hubungi toko, meskipun Anda sudah membayar.',
  },
  seen: {
    title: 'Pembayaran ditemukan',
    text: 'Jaringan sedang mengonfirmasinya. Mohon jangan kirim lagi. Anda boleh menutup halaman ini.',
  },
  paid: { title: 'Lunas', text: 'Pembayaran telah masuk dan terkonfirmasi. Terima kasih.' },
  expired: {
    title: 'Pembayaran ini sudah kedaluwarsa',
    text: 'Mohon jangan kirim apa pun lagi ke alamat ini. Jika sudah telanjur, hubungi toko dan sebutkan ID transaksinya.',
  },
  cancelled: {
    title: 'Pembayaran ini telah dibatalkan',
    text: 'Mohon jangan kirim apa pun ke alamat ini. Jika sudah telanjur, hubungi toko dan sebutkan ID transaksinya.',
  },
  notFound: {
    title: 'Tidak ada pembayaran di sini',
    text: 'Tautan ini tidak mengarah ke pembayaran mana pun. Mohon periksa apakah tautannya lengkap atau minta yang baru kepada toko.',
  },
  unavailable: {
    title: 'Mohon tunggu sebentar',
    text: 'Pembayaran belum dapat ditampilkan saat ini. Tidak ada yang hilang: dana yang sudah Anda kirim tidak terpengaruh. Halaman ini akan mencoba lagi sendiri.',
  },

  confirmations: 'Konfirmasi: {seen} dari {required}',
  awaitingFinality: 'Tinggal menunggu konfirmasi akhir dari jaringan.',
  finalityHint: 'Untuk jumlah besar, ini dapat memakan waktu beberapa menit.',

  amount: 'Jumlah',
  sendExactly: 'Kirim tepat',
  exactAmount: 'Untuk diketik atau ditempel: {amount}',
  amountHint: 'Tepat jumlah ini, dalam satu kali transfer: dari jumlah inilah pembayaran Anda dikenali.',
  lastDigits: 'Angka terakhir, {digits}, juga harus dikirim: dari situlah pembayaran Anda dikenali.',
  feeHint: 'Mengirim dari bursa kripto? Biayanya bisa dipotong dari jumlah ini. Yang diterima harus tepat {amount}.',
  send: 'Kirim',
  partsHint: 'Semua yang masuk ke alamat ini dihitung untuk pembayaran ini. Anda boleh mengirimnya secara bertahap.',
  received: 'Diterima {arrived} dari {asked}',
  sendRest: 'Kirim sisanya, {missing}, ke alamat yang sama.',
  overpaid: 'Yang masuk lebih dari jumlah yang diminta: {arrived} dari {asked}. Hubungi toko mengenai kelebihannya.',
  expiredReceived: 'Waktunya sudah habis, tetapi toko masih dapat menerima uangnya. Mohon jangan bayar lagi.',
  cancelledReceived: 'Pembayaran telah dibatalkan, tetapi toko masih dapat menerima uangnya. Mohon jangan bayar lagi.',
  network: 'Jaringan',
  networkName: '{currency} di jaringan {network}',
  networkWarning: 'Jika dikirim lewat jaringan lain atau sebagai koin lain, uang akan hilang.',
  recipient: 'Alamat',
  recipientHint: 'Setelah menempel, bandingkan bagian awal dan akhirnya.',
  payee: 'Pembayaran kepada',
  back: 'Kembali ke toko',
  reference: 'Referensi',
  arrivedAmount: 'Diterima',
  askedAmount: 'Diminta',
  notSent: 'Saya belum mengirim apa pun',
  contactShop: 'Hubungi toko dan sebutkan referensi ini: {reference}',
  contactNamed: 'Hubungi {shop} dan sebutkan referensi ini: {reference}',
  unreadable:
    'Saat ini kami tidak dapat membaca {network}. Pembayaran yang sudah Anda kirim tidak hilang: kami akan mendeteksinya nanti. Mohon jangan bayar lagi.',
  description: 'Keterangan',
  price: 'Harga',
  priceAt: '{price}, dengan kurs {rate}',
  timeLeft: 'Sisa waktu',
  payBefore: 'Bayar sebelum',

  copy: 'Salin',
  copyAmount: 'Salin jumlah',
  copyRecipient: 'Salin alamat',
  copied: 'Tersalin',
  copyFailed: 'Tidak dapat menyalin di sini. Silakan pilih teksnya sendiri.',

  qrOfRecipient: 'Kode QR alamat',
  qrOfLink: 'Kode QR untuk aplikasi dompet',
  qrChoice: 'Isi kode QR',
  qrRecipient: 'Alamat',
  qrLink: 'Tautan dompet',
  qrLinkHint: 'Tidak semua aplikasi dompet mengenali kode ini. Periksa jaringan, alamat, dan jumlah sebelum mengirim.',
  openWallet: 'Buka di aplikasi dompet',
  fillsAll:
    'Aplikasi seharusnya mengisi token, jaringan, alamat, dan jumlah. Tidak semuanya begitu: bandingkan sebelum mengirim.',
  fillsRecipient: 'Aplikasi hanya mengisi alamat. Pilih {currency} dan masukkan sendiri jumlahnya.',

  help: 'Saya sudah bayar, tetapi belum ada perubahan',
  helpText: 'Tempel ID transaksi (TxID, hash) dari dompet atau bursa Anda. Kami akan mencarinya di jaringan.',
  transactionId: 'ID transaksi',
  lookUp: 'Cari',
  askShop: 'Masih belum jelas? Hubungi toko dan sebutkan referensi ini: {reference}',
  lookup: {
    pays_this_payment: 'Transfer ini membayar pembayaran ini. Anda tidak perlu melakukan apa pun lagi.',
    other_amount:
      'Transfer ini sampai ke alamat yang benar, tetapi dengan jumlah lain. Mohon jangan bayar lagi: hubungi toko.',
    other_address:
      'Transfer ini terkirim ke alamat lain, bukan alamat pembayaran ini. Periksa di dompet Anda ke mana Anda mengirimnya.',
    other_network:
      'Transfer ini dilakukan di jaringan lain, bukan jaringan yang diminta. Mohon jangan bayar lagi: hubungi toko.',
    other_token: 'Transaksi ini mengirim token atau koin lain, bukan yang diminta. Silakan hubungi toko.',
    failed: 'Transaksi ini gagal, jadi uangnya tidak terkirim. Lihat penyebabnya di dompet Anda sebelum mencoba lagi.',
    pending: 'Transaksi ini sedang diproses. Mohon jangan bayar lagi; cari sekali lagi dalam beberapa menit.',
    too_late: 'Transfer ini masuk setelah pembayaran ini berakhir. Mohon jangan bayar lagi: hubungi toko.',
    not_for_this_payment:
      'Transfer ini tidak dihitung untuk pembayaran ini: dilakukan sebelumnya atau kelebihan satu kali. Jika itu milik Anda, hubungi toko.',
    unknown:
      'Tidak ada jaringan yang mengenal transaksi ini. Periksa ID-nya; jika Anda baru saja membayar, cari lagi dalam beberapa menit.',
    not_read_yet: 'Saat ini belum dapat dicari. Uang Anda tidak terpengaruh; silakan coba lagi dalam beberapa menit.',
    no_transaction_id:
      'Ini bukan ID transaksi. ID itu terdiri dari 64 karakter, angka dan huruf a sampai f, sering diawali 0x.',
    asked_too_often: 'Terlalu sering dicari. Mohon tunggu satu menit sebelum mencari lagi.',
  },

  language: 'Bahasa',
  offline: 'Tidak ada koneksi. Halaman ini akan mencoba lagi sendiri; pembayaran Anda tidak terpengaruh.',
  selfRefresh: 'Halaman ini memuat ulang sendiri setiap {seconds} detik.',
  refresh: 'Muat ulang sekarang',
};
