import type { Texts } from './texts.ts';

export const zh: Texts = {
  waiting: { title: '等待您付款', text: '请务必向此地址转入与所示完全一致的金额。付款到账后，本页面会自动更新。' },
  over: { title: '付款时间已结束', text: '请不要再转账。我们正在检查最后的区块：按时完成的付款仍然有效。' },
  seen: { title: '已检测到付款', text: '网络正在确认此付款。请勿重复转账。您可以关闭本页面。' },
  paid: { title: '已付款', text: '款项已到账并已确认。谢谢。' },
  expired: { title: '此付款已过期', text: '请不要再向此地址转账。如果您已经转账，请联系商家并提供交易哈希（TxID）。' },
  cancelled: { title: '此付款已取消', text: '请不要向此地址转账。如果您已经转账，请联系商家并提供交易哈希（TxID）。' },
  notFound: { title: '这里没有付款', text: '此链接没有对应的付款。请检查链接是否完整，或向商家索取新链接。' },
  unavailable: {
    title: '请稍候',
    text: '目前无法显示此付款。没有任何损失：您已转出的款项不受影响。本页面会自动重试。',
  },

  confirmations: '区块确认：{seen}/{required}',
  awaitingFinality: '只差网络的最终确认。',

  amount: '金额',
  exactAmount: '供输入或粘贴：{amount}',
  amountHint: '必须正好是此金额，并且一次转完：我们凭此金额识别您的付款。',
  feeHint: '从交易所转出？交易所可能会从转账金额中扣除手续费。实际到账必须正好是 {amount}。',
  network: '网络',
  networkName: '{currency}，{network} 网络',
  networkWarning: '使用其他网络或其他币种转账，资金将会丢失。',
  recipient: '地址',
  recipientHint: '粘贴后，请核对开头和结尾。',
  description: '说明',
  timeLeft: '剩余时间',
  payBefore: '付款截止时间',

  copy: '复制',
  copyAmount: '复制金额',
  copyRecipient: '复制地址',
  copied: '已复制',
  copyFailed: '此处无法复制。请自行选择文字。',

  qrOfRecipient: '地址二维码',
  qrOfLink: '钱包应用二维码',
  qrChoice: '二维码内容',
  qrRecipient: '地址',
  qrLink: '钱包链接',
  qrLinkHint: '并非所有钱包应用都能识别此二维码。转账前请核对网络、地址和金额。',
  openWallet: '在钱包应用中打开',

  language: '语言',
  offline: '网络连接已断开。本页面会自动重试；您的付款不受影响。',
  selfRefresh: '本页面每 {seconds} 秒自动刷新一次。',
  refresh: '立即刷新',
};
