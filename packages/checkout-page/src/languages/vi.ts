import type { Texts } from './texts.ts';

export const vi: Texts = {
  waiting: {
    title: 'Đang chờ quý khách thanh toán',
    text: 'Vui lòng gửi đúng số tiền này đến địa chỉ này. Trang này sẽ tự nhận biết khi khoản thanh toán đến nơi.',
  },
  over: {
    title: 'Đã hết thời gian',
    text: 'Vui lòng không gửi gì thêm nữa. Chúng tôi đang kiểm tra các khối cuối cùng: khoản thanh toán đúng hạn vẫn được tính.',
  },
  seen: {
    title: 'Đã thấy khoản thanh toán',
    text: 'Mạng đang xác nhận khoản này. Vui lòng không gửi lại lần nữa. Quý khách có thể đóng trang này.',
  },
  paid: { title: 'Đã thanh toán', text: 'Khoản thanh toán đã đến và được xác nhận. Xin cảm ơn.' },
  expired: {
    title: 'Khoản thanh toán này đã hết hạn',
    text: 'Vui lòng không gửi gì đến địa chỉ này nữa. Nếu đã gửi, vui lòng liên hệ cửa hàng và cung cấp mã giao dịch (TxID).',
  },
  cancelled: {
    title: 'Khoản thanh toán này đã bị hủy',
    text: 'Vui lòng không gửi gì đến địa chỉ này. Nếu đã gửi, vui lòng liên hệ cửa hàng và cung cấp mã giao dịch (TxID).',
  },
  notFound: {
    title: 'Không có khoản thanh toán ở đây',
    text: 'Liên kết này không dẫn đến khoản thanh toán nào. Vui lòng kiểm tra xem liên kết có đầy đủ không hoặc xin cửa hàng liên kết mới.',
  },
  unavailable: {
    title: 'Vui lòng đợi một chút',
    text: 'Hiện chưa thể hiển thị khoản thanh toán. Không có gì bị mất: số tiền quý khách đã gửi không bị ảnh hưởng. Trang này sẽ tự thử lại.',
  },

  confirmations: 'Lượt xác nhận: {seen}/{required}',
  awaitingFinality: 'Chỉ còn chờ xác nhận cuối cùng của mạng.',

  amount: 'Số tiền',
  exactAmount: 'Để nhập hoặc dán: {amount}',
  amountHint: 'Đúng số tiền này, trong một lần chuyển: khoản thanh toán được nhận diện theo số tiền.',
  feeHint: 'Gửi từ sàn giao dịch? Sàn có thể trừ phí vào số tiền này. Số tiền đến nơi phải đúng {amount}.',
  network: 'Mạng',
  networkName: '{currency} trên mạng {network}',
  networkWarning: 'Nếu gửi qua mạng khác hoặc bằng loại coin khác, tiền sẽ bị mất.',
  recipient: 'Địa chỉ',
  recipientHint: 'Sau khi dán, hãy so sánh phần đầu và phần cuối.',
  description: 'Mô tả',
  timeLeft: 'Thời gian còn lại',
  payBefore: 'Thanh toán trước',

  copy: 'Sao chép',
  copyAmount: 'Sao chép số tiền',
  copyRecipient: 'Sao chép địa chỉ',
  copied: 'Đã sao chép',
  copyFailed: 'Không thể sao chép tại đây. Vui lòng tự chọn văn bản.',

  qrOfRecipient: 'Mã QR của địa chỉ',
  qrOfLink: 'Mã QR cho ứng dụng ví',
  qrChoice: 'Nội dung mã QR',
  qrRecipient: 'Địa chỉ',
  qrLink: 'Liên kết ví',
  qrLinkHint:
    'Không phải ứng dụng ví nào cũng đọc được mã này. Vui lòng kiểm tra mạng, địa chỉ và số tiền trước khi gửi.',
  openWallet: 'Mở trong ứng dụng ví',

  language: 'Ngôn ngữ',
  offline: 'Mất kết nối. Trang này sẽ tự thử lại; khoản thanh toán không bị ảnh hưởng.',
  selfRefresh: 'Trang này tự tải lại sau mỗi {seconds} giây.',
  refresh: 'Tải lại ngay',
};
