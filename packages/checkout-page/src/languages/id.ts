import type { Texts } from './texts.ts';

export const id: Texts = {
  waiting: {
    title: 'Menunggu pembayaran Anda',
    text: 'Kirim tepat jumlah ini ke alamat ini. Halaman ini akan mengetahui sendiri saat pembayaran masuk.',
  },
  over: {
    title: 'Waktu habis',
    text: 'Mohon jangan kirim apa pun lagi. Kami sedang memeriksa blok-blok terakhir: pembayaran yang dilakukan tepat waktu tetap sah.',
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

  amount: 'Jumlah',
  exactAmount: 'Untuk diketik atau ditempel: {amount}',
  amountHint: 'Tepat jumlah ini, dalam satu kali transfer: dari jumlah inilah pembayaran Anda dikenali.',
  feeHint: 'Mengirim dari bursa kripto? Biayanya bisa dipotong dari jumlah ini. Yang diterima harus tepat {amount}.',
  network: 'Jaringan',
  networkName: '{currency} di jaringan {network}',
  networkWarning: 'Jika dikirim lewat jaringan lain atau sebagai koin lain, uang akan hilang.',
  recipient: 'Alamat',
  recipientHint: 'Setelah menempel, bandingkan bagian awal dan akhirnya.',
  description: 'Keterangan',
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

  language: 'Bahasa',
  offline: 'Tidak ada koneksi. Halaman ini akan mencoba lagi sendiri; pembayaran Anda tidak terpengaruh.',
  selfRefresh: 'Halaman ini memuat ulang sendiri setiap {seconds} detik.',
  refresh: 'Muat ulang sekarang',
};
