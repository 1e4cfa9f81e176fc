import type { Texts } from './texts.ts';

export const vi: Texts = {
  waiting: {
    title: 'Đang chờ quý khách thanh toán',
    text: 'Trang này sẽ tự cập nhật khi khoản thanh toán đến nơi.',
  },
  over: {
    title: 'Đã hết thời gian',
    text: 'Vui lòng không gửi gì thêm nữa. Chúng tôi đang kiểm tra các khối cuối cùng: khoản thanh toán đúng hạn vẫn được tính.',
  },
  arrived: { title: '{amount} đã đến địa chỉ này', text: 'Nếu là quý khách gửi, xin đừng thanh toán lại.' },
  frozen: {
    title: 'Địa chỉ này đã bị đóng băng',
    text: 'Tổ chức phát hành token đã đóng băng địa chỉ này. Vui lòng không gửi gì: hãy liên hệ cửa hàng, kể cả khi đã thanh toán.',
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
    text: 'Vui lòng kiểm tra xem liên kết có đầy đủ không, hoặc xin cửa hàng liên kết mới.',
  },
  unavailable: {
    title: 'Vui lòng đợi một chút',
    text: 'Hiện chưa thể hiển thị khoản thanh toán. Không có gì bị mất: số tiền quý khách đã gửi không bị ảnh hưởng. Trang này sẽ tự thử lại.',
  },

  confirmations: 'Lượt xác nhận: {seen}/{required}',
  awaitingFinality: 'Chỉ còn chờ xác nhận cuối cùng của mạng.',
  finalityHint: 'Với số tiền lớn, việc này có thể mất vài phút.',

  amount: 'Số tiền',
  sendExactly: 'Gửi đúng',
  exactAmount: 'Để nhập hoặc dán: {amount}',
  amountHint: 'Gửi trong một lần chuyển. Chúng tôi nhận diện khoản thanh toán theo số tiền này.',
  lastDigits: 'Gửi cả những chữ số cuối, {digits}. Chúng tôi nhận diện khoản thanh toán nhờ chúng.',
  exchange: 'Gửi từ sàn giao dịch?',
  exchangeNetwork: 'Chọn mạng {network}.',
  exchangeFee: 'Nhiều sàn trừ phí vào số tiền gửi. Nếu phí là {fee}, hãy nhập {entered} để {amount} đến nơi.',
  send: 'Gửi',
  partsHint:
    'Mọi khoản tiền đến địa chỉ này đều được tính cho khoản thanh toán này. Quý khách có thể gửi thành nhiều lần.',
  received: 'Đã nhận {arrived} trong số {asked}',
  sendRest: 'Gửi phần còn lại, {missing}, đến cùng địa chỉ này.',
  overpaid: 'Số tiền đã đến nhiều hơn số cần trả: {arrived} thay vì {asked}. Vui lòng liên hệ cửa hàng về phần thừa.',
  expiredReceived: 'Đã hết thời gian, nhưng cửa hàng vẫn có thể nhận khoản tiền này. Vui lòng không thanh toán lại.',
  cancelledReceived:
    'Khoản thanh toán đã bị hủy, nhưng cửa hàng vẫn có thể nhận khoản tiền này. Vui lòng không thanh toán lại.',
  network: 'Mạng',
  networkName: '{currency} trên mạng {network}',
  networkWarning: 'Nếu gửi qua mạng khác hoặc bằng loại coin khác, tiền sẽ bị mất.',
  recipient: 'Địa chỉ',
  recipientHint: 'Sau khi dán, hãy so sánh phần đầu và phần cuối.',
  payee: 'Thanh toán cho',
  back: 'Quay lại cửa hàng',
  payAgain: 'Quay lại cửa hàng để thanh toán mới',
  paidAt: 'Đã thanh toán lúc',
  print: 'In biên nhận',
  receipt: 'Lấy biên nhận',
  reference: 'Mã tham chiếu',
  arrivedAmount: 'Đã nhận',
  askedAmount: 'Cần trả',
  notSent: 'Tôi chưa gửi gì cả',
  contactShop: 'Hãy liên hệ cửa hàng và cung cấp mã tham chiếu này: {reference}',
  contactNamed: 'Hãy liên hệ {shop} và cung cấp mã tham chiếu này: {reference}',
  unreadable:
    'Hiện chúng tôi chưa đọc được {network}. Khoản thanh toán quý khách đã gửi không bị mất: chúng tôi sẽ ghi nhận sau. Vui lòng không thanh toán lại.',
  description: 'Mô tả',
  price: 'Giá',
  priceAt: '{price}, theo tỷ giá {rate}',
  timeLeft: 'Thời gian còn lại',
  payBefore: 'Thanh toán trước',

  copy: 'Sao chép',
  copyAmount: 'Sao chép số tiền',
  copyRecipient: 'Sao chép địa chỉ',
  copied: 'Đã sao chép',
  copyFailed: 'Không thể sao chép tại đây. Vui lòng tự chọn văn bản.',

  qrOfRecipient: 'Mã QR của địa chỉ',
  qrOfLink: 'Mã QR có địa chỉ và số tiền',
  qrChoice: 'Nội dung mã QR',
  qrRecipient: 'Chỉ địa chỉ',
  qrLink: 'Kèm số tiền',
  qrLinkHint: 'Kiểm tra địa chỉ và số tiền trong ví. Nếu ví không đọc được mã này, hãy dùng mã chỉ có địa chỉ.',
  openWallet: 'Mở trong ứng dụng ví',
  fillsAll: 'Kiểm tra token, mạng, địa chỉ và số tiền trong ứng dụng trước khi gửi.',
  fillsRecipient: 'Ứng dụng điền sẵn địa chỉ. Vui lòng chọn {currency} và nhập số tiền.',

  wallet: {
    payWith: 'Thanh toán bằng {wallet}',
    payHere: 'Thanh toán bằng ví trong trình duyệt này',
    hint: 'Ví của bạn hiển thị mạng, địa chỉ và số tiền. Hãy kiểm tra rồi xác nhận.',
    confirm: 'Hãy mở ví và xác nhận thanh toán tại đó.',
    look: 'Ví của bạn chưa trả lời. Hãy xem trong ví: khoản thanh toán có thể đang chờ hoặc đã được gửi.',
    refused: 'Bạn đã từ chối trong ví. Chưa có gì được gửi.',
    wrongChain: 'Ví của bạn đang ở mạng khác. Hãy chọn {network} trong ví rồi thử lại. Chưa có gì được gửi.',
    noTokens: 'Tài khoản này có ít hơn {amount} trên {network}. Chưa có gì được gửi.',
    noGas: 'Tài khoản này không đủ {coin} cho phí mạng. Chưa có gì được gửi.',
    failed: 'Ví của bạn báo lỗi. Chưa có gì được gửi.',
    unclear: 'Ví của bạn báo lỗi. Hãy xem trong ví trước: khoản thanh toán có thể đã được gửi.',
    sent: 'Đã gửi. Đang chờ mạng. Vui lòng không thanh toán lại.',
    reverted: 'Mạng đã từ chối giao dịch chuyển nên tiền chưa được gửi. Bạn có thể thử lại.',
    before: 'Bạn đã gửi một khoản thanh toán từ trang này. Chỉ gửi phần còn lại nếu khoản đó đã đến.',
    again: 'Chưa được gửi: thử lại',
    rest: 'Thanh toán phần còn lại',
    anyway: 'Vẫn thử',
    apps: 'Hoặc mở trang này trong ứng dụng ví:',
  },

  help: 'Tôi đã thanh toán nhưng không thấy gì',
  helpText: 'Dán mã giao dịch (TxID, hash) từ ví hoặc sàn giao dịch. Chúng tôi sẽ tìm trên mạng.',
  transactionId: 'Mã giao dịch',
  lookUp: 'Tra cứu',
  askShop: 'Vẫn chưa rõ? Hãy liên hệ cửa hàng và cung cấp mã tham chiếu này: {reference}',
  lookup: {
    pays_this_payment: 'Lần chuyển tiền này thanh toán cho khoản này. Quý khách không cần làm gì thêm.',
    other_amount:
      'Lần chuyển tiền này đến đúng địa chỉ nhưng sai số tiền. Vui lòng không thanh toán lại: hãy liên hệ cửa hàng.',
    other_address:
      'Lần chuyển tiền này đã đến một địa chỉ khác, không phải địa chỉ của khoản này. Vui lòng xem trong ví đã gửi đến đâu.',
    other_network:
      'Lần chuyển tiền này đi qua một mạng khác với mạng được yêu cầu. Vui lòng không thanh toán lại: hãy liên hệ cửa hàng.',
    other_token: 'Giao dịch này đã gửi một token hoặc coin khác với loại được yêu cầu. Vui lòng liên hệ cửa hàng.',
    failed: 'Giao dịch này đã thất bại nên tiền chưa được gửi. Vui lòng xem lý do trong ví trước khi thử lại.',
    pending: 'Giao dịch này đang được xử lý. Vui lòng không thanh toán lại; hãy tra cứu lại sau vài phút.',
    too_late:
      'Lần chuyển tiền này đến sau khi khoản thanh toán đã kết thúc. Vui lòng không thanh toán lại: hãy liên hệ cửa hàng.',
    not_for_this_payment:
      'Lần chuyển tiền này không được tính cho khoản này: đã gửi từ trước hoặc bị gửi hai lần. Nếu là của quý khách, hãy liên hệ cửa hàng.',
    unknown:
      'Không mạng nào biết giao dịch này. Vui lòng kiểm tra mã; nếu vừa mới thanh toán, hãy tra cứu lại sau vài phút.',
    not_read_yet: 'Hiện chưa thể tra cứu. Tiền của quý khách không bị ảnh hưởng; vui lòng thử lại sau vài phút.',
    no_transaction_id:
      'Đây không phải mã giao dịch. Mã gồm 64 ký tự, chữ số và các chữ cái từ a đến f, thường có 0x ở đầu.',
    asked_too_often: 'Tra cứu quá nhiều lần. Vui lòng đợi một phút rồi tra cứu lại.',
  },

  language: 'Ngôn ngữ',
  offline: 'Mất kết nối. Trang này sẽ tự thử lại; khoản thanh toán không bị ảnh hưởng.',
  selfRefresh: 'Trang này tự tải lại sau mỗi {seconds} giây.',
  refresh: 'Tải lại ngay',
};
