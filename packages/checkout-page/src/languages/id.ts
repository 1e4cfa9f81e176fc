import type { Texts } from './texts.ts';

export const id: Texts = {
  waiting: {
    title: 'Menunggu pembayaran Anda',
    text: 'Halaman ini diperbarui otomatis saat pembayaran masuk.',
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
  amountHint: 'Kirim sekaligus. Kami mengenali pembayaran Anda dari jumlah ini.',
  lastDigits: 'Kirim juga angka terakhir, {digits}. Kami mengenali pembayaran Anda dari angka itu.',
  exchange: 'Mengirim dari bursa kripto?',
  exchangeNetwork: 'Pilih {network} sebagai jaringan.',
  exchangeFee:
    'Banyak bursa memotong biaya dari jumlah yang dikirim. Jika biayanya {fee}, masukkan {entered} agar {amount} sampai.',
  send: 'Kirim',
  partsHint: 'Semua yang masuk ke alamat ini dihitung untuk pembayaran ini. Anda boleh mengirimnya secara bertahap.',
  received: 'Diterima {arrived} dari {asked}',
  sendRest: 'Kirim sisanya, {missing}, ke alamat yang sama.',
  overpaid:
    'Yang masuk melebihi jumlah yang diminta: {arrived}, padahal seharusnya {asked}. Hubungi toko mengenai kelebihannya.',
  expiredReceived: 'Waktunya sudah habis, tetapi toko masih dapat menerima uangnya. Mohon jangan bayar lagi.',
  cancelledReceived: 'Pembayaran telah dibatalkan, tetapi toko masih dapat menerima uangnya. Mohon jangan bayar lagi.',
  network: 'Jaringan',
  networkName: '{currency} di jaringan {network}',
  networkWarning: 'Jika dikirim lewat jaringan lain atau sebagai koin lain, uang akan hilang.',
  recipient: 'Alamat',
  recipientHint: 'Setelah menempel, bandingkan bagian awal dan akhirnya.',
  payee: 'Pembayaran kepada',
  back: 'Kembali ke toko',
  payAgain: 'Kembali ke toko untuk pembayaran baru',
  paidAt: 'Dibayar pada',
  print: 'Cetak tanda terima',
  receipt: 'Minta tanda terima',
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
  qrOfLink: 'Kode QR berisi alamat dan jumlah',
  qrChoice: 'Isi kode QR',
  qrRecipient: 'Hanya alamat',
  qrLink: 'Dengan jumlah',
  qrLinkHint:
    'Periksa alamat dan jumlah di dompet Anda. Jika dompet tidak dapat membaca kode ini, gunakan kode alamat saja.',
  openWallet: 'Buka di aplikasi dompet',
  fillsAll: 'Periksa token, jaringan, alamat, dan jumlah di aplikasi sebelum mengirim.',
  fillsRecipient: 'Aplikasi mengisi alamat. Pilih {currency} dan masukkan jumlahnya.',

  wallet: {
    payWith: 'Bayar dengan {wallet}',
    payHere: 'Bayar dengan dompet di browser ini',
    hint: 'Dompet Anda menampilkan jaringan, alamat, dan jumlah. Periksa, lalu konfirmasi.',
    confirm: 'Buka dompet Anda dan konfirmasi pembayaran di sana.',
    look: 'Dompet Anda belum menjawab. Periksa di sana: pembayaran mungkin menunggu, atau sudah terkirim.',
    refused: 'Anda menolak di dompet. Tidak ada yang dikirim.',
    wrongChain: 'Dompet Anda memakai jaringan lain. Pilih {network} di sana dan coba lagi. Tidak ada yang dikirim.',
    noTokens: 'Akun ini memiliki kurang dari {amount} di {network}. Tidak ada yang dikirim.',
    noGas: 'Akun ini tidak memiliki cukup {coin} untuk biaya jaringan. Tidak ada yang dikirim.',
    failed: 'Dompet Anda melaporkan kesalahan. Tidak ada yang dikirim.',
    unclear: 'Dompet Anda melaporkan kesalahan. Periksa dulu di sana: pembayaran mungkin sudah terkirim.',
    sent: 'Terkirim. Menunggu jaringan. Mohon jangan bayar lagi.',
    reverted: 'Jaringan menolak transfer ini, jadi uangnya tidak terkirim. Anda dapat mencoba lagi.',
    before: 'Anda sudah mengirim pembayaran dari halaman ini. Kirim sisanya hanya jika itu sudah masuk.',
    again: 'Tidak terkirim: coba lagi',
    rest: 'Bayar sisanya',
    anyway: 'Tetap coba',
    apps: 'Atau buka halaman ini di aplikasi dompet:',
  },

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
      'Transfer ini tidak dihitung untuk pembayaran ini: dilakukan sebelumnya atau terkirim dua kali. Jika itu milik Anda, hubungi toko.',
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
