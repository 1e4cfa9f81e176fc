/**
 * Pays from a wallet in this browser: it finds the wallets, and asks the one that the reader chooses for one transfer of exactly what the
 * page asks for. It contains no words: the server has written them into the page, and this shows the right one. It requests nothing from
 * any server. What it has asked for, and the hash of what was sent, stay in this tab, so that a reload never offers the same payment again.
 *
 * A wallet is a stranger's program. It may refuse, answer late, never or wrongly, and lie about its chain: nothing that it says is used
 * without a check, and nothing that may have been sent is sent again unless the reader says so.
 *
 * Sources: EIP-1193 (provider), EIP-6963 (discovery), EIP-3326 and EIP-3085 (chains); TIP-1193 and TIP-6963, their like on Tron.
 */
(() => {
  /** Without an answer for so long the reader is asked to look into the wallet. */
  const LATE_MS = 60000;
  const OUTCOME_EVERY_MS = 4000;
  const WALLETS_MAX = 8;
  const NAME_MAX = 40;
  /** The most that a transfer on Tron may cost in fees, in millionths of a TRX. It needs less than 30 TRX. */
  const TRON_FEE_LIMIT = 100000000;
  const TRANSFER = 'transfer(address,uint256)';
  /** Errors after which a wallet has not sent anything, as EIP-1193 and JSON-RPC define them. */
  const NOT_SENT = [4100, 4200, 4900, 4901, 4902, -32600, -32601, -32602];
  const REFUSED = 4001;
  const IN_PROGRESS = [-32002, 4000];
  /** Answers of Tron's nodes that refuse a transaction for good. */
  const TRON_NOT_SENT = [
    ...['SIGERROR', 'CONTRACT_VALIDATE_ERROR', 'CONTRACT_EXE_ERROR', 'TAPOS_ERROR'],
    ...['TOO_BIG_TRANSACTION_ERROR', 'TRANSACTION_EXPIRATION_ERROR'],
  ];

  /** What the page says instead of paying. `says` is the name of one of its texts. */
  class Stop extends Error {
    constructor(says) {
      super(says);
      this.says = says;
    }
  }

  const wallets = new Map();
  const recordName = `wallet:${location.pathname.split('/').pop()}`;
  /** What this tab has asked a wallet for: { units, wallet, hash }, the hash null while no answer is known; or null. */
  let record = readRecord();
  /** Counts up, so that an attempt that was given up sends nothing any more. */
  let attempt = 0;
  let isAsking = false;
  let isLate = false;
  let isLooking = false;
  let lateTimer = 0;
  let notice = null;
  let chosen = null;

  // ---- The page

  const panelNow = () => document.querySelector('.wallet[data-units]');

  /** What stands in the panel: a text, whether one can pay, and a further button. */
  function viewOf(units) {
    if (isAsking) return { says: isLate ? 'look' : 'confirm', pay: 'disabled', offers: isLate ? 'again' : null };
    if (record === null) return { says: notice, pay: 'enabled', offers: notice === 'noGas' ? 'anyway' : null };
    if (record.units !== units) return { says: 'before', pay: 'hidden', offers: 'rest' };
    if (record.hash !== null) return { says: 'sent', pay: 'hidden', offers: null };
    return { says: notice ?? 'look', pay: 'hidden', offers: 'again' };
  }

  function render() {
    const panel = panelNow();
    if (panel === null) return;
    const offered = walletsFor(panel.dataset.family);
    const { says, pay, offers } = viewOf(panel.dataset.units);
    const canPay = offered.length > 0 && pay !== 'hidden';
    panel.querySelector('.wallet-open').hidden = offered.length > 0 || record !== null;
    panel.querySelector('.wallet-pay').hidden = !canPay;
    if (canPay) renderButtons(panel, offered, pay === 'disabled');
    for (const text of panel.querySelectorAll('[data-says]')) text.hidden = text.dataset.says !== says;
    for (const button of panel.querySelectorAll('[data-offers]')) {
      button.hidden = button.dataset.offers !== offers;
      button.onclick = () => (offers === 'anyway' ? void payFrom(chosen, true) : startAgain());
    }
    for (const link of panel.querySelectorAll('[data-app]')) link.href = appLink(link.dataset);
  }

  /** Buttons that stand there already stay, with the focus that one of them may have. */
  function renderButtons(panel, offered, isDisabled) {
    const place = panel.querySelector('.wallet-buttons');
    const ids = offered.map(({ id }) => id).join();
    if (place.dataset.ids !== ids) {
      place.dataset.ids = ids;
      place.replaceChildren(...offered.map((wallet) => payButton(panel.dataset, wallet)));
    }
    for (const button of place.children) button.disabled = isDisabled;
  }

  /** The name is the wallet's own word, so it is text, and keeps its own direction. */
  function payButton({ payWith, payHere }, wallet) {
    const button = document.createElement('button');
    button.type = 'button';
    const [before, after] = payWith.split('{wallet}');
    const name = document.createElement('bdi');
    name.textContent = wallet.name;
    button.append(...(wallet.name === null ? [payHere] : [before, name, after]));
    button.addEventListener('click', () => void payFrom(wallet, false));
    return button;
  }

  /** The page in the browser of a wallet's app, in the language that the reader chose. */
  function appLink({ app, encoded }) {
    const lang = new URLSearchParams(location.search).get('lang');
    let page = location.origin + location.pathname + (lang === null ? '' : `?lang=${encodeURIComponent(lang)}`);
    if (encoded === '0') page = page.replace(/^https?:\/\//, '');
    for (let times = 0; times < Number(encoded); times += 1) page = encodeURIComponent(page);
    return app.replace('{page}', page);
  }

  // ---- Paying

  async function payFrom(wallet, isAnyway) {
    if (isAsking || record !== null) return;
    // What a wallet shows in a frame can be covered by the site around it.
    if (parent !== window) return void open(location.href, '_blank', 'noopener');
    const mine = (attempt += 1);
    const order = { ...panelNow().dataset };
    chosen = wallet;
    show({ asking: true });
    lateTimer = setTimeout(() => {
      isLate = true;
      render();
    }, LATE_MS);
    /** The last step before the wallet is asked to send: from here on, it may have sent. */
    const hold = () => {
      if (mine !== attempt || panelNow()?.dataset.units !== order.units) throw new Stop(null);
      keep({ units: order.units, wallet: wallet.rdns, hash: null });
    };
    try {
      const hash = await wallet.pay(order, { hold, isAnyway });
      // An answer that comes after the reader gave up counts too, and ends what was begun since.
      attempt += 1;
      keep({ units: order.units, wallet: wallet.rdns, hash });
      show({});
    } catch (error) {
      if (mine === attempt) fail(error);
    }
  }

  function fail(error) {
    const says = reasonOf(error);
    const isUnsent = error instanceof Stop || ['refused', 'noGas'].includes(says) || NOT_SENT.includes(codeOf(error));
    // Any other error may have happened after the wallet had sent.
    if (isUnsent) keep(null);
    if (record === null) show({ says });
    else show({ says: says === 'confirm' ? 'look' : 'unclear' });
  }

  function reasonOf(error) {
    if (error instanceof Stop) return error.says;
    if (isRefusal(error)) return 'refused';
    if (IN_PROGRESS.includes(codeOf(error))) return 'confirm';
    return /insufficient funds/i.test(messageOf(error)) ? 'noGas' : 'failed';
  }

  const codeOf = (error) => Number(error?.data?.originalError?.code ?? error?.code);
  const messageOf = (error) => String(error?.message ?? error);
  /** TronLink throws bare words. */
  const isRefusal = (error) =>
    codeOf(error) === REFUSED || /^(confirmation declined by user|cancel|cancle)$/i.test(messageOf(error));

  function show({ asking = false, says = null }) {
    clearTimeout(lateTimer);
    isAsking = asking;
    isLate = false;
    notice = says;
    render();
  }

  /** The reader's explicit word, after looking into the wallet, or because something is still missing. */
  function startAgain() {
    attempt += 1;
    keep(null);
    show({});
  }

  /** Whether the network has rejected what was sent. Any other news comes from the page itself. */
  async function lookForOutcome() {
    const known = record;
    const wallet = [...wallets.values()].find(({ rdns }) => rdns === known?.wallet);
    if (!known?.hash || wallet === undefined || isLooking || document.hidden || panelNow() === null) return;
    isLooking = true;
    const hasFailed = await wallet.hasFailed(known.hash).catch(() => false);
    isLooking = false;
    if (!hasFailed || record !== known) return;
    keep(null);
    show({ says: 'reverted' });
  }

  // ---- What this tab remembers

  /** Storage may be switched off; then it lasts until the reload. */
  function keep(next) {
    record = next;
    try {
      if (next === null) sessionStorage.removeItem(recordName);
      else sessionStorage.setItem(recordName, JSON.stringify(next));
    } catch {}
  }

  function readRecord() {
    try {
      const { units, wallet = null, hash = null } = JSON.parse(sessionStorage.getItem(recordName));
      return { units, wallet, hash };
    } catch {
      return null;
    }
  }

  // ---- EVM

  const word = (value) => BigInt(value).toString(16).padStart(64, '0');
  const isHex = (value) => /^0x[0-9a-f]+$/i.test(value);

  function evmWallet(provider) {
    const ask = (method, params) => provider.request({ method, ...(params && { params }) });
    return {
      pay: async ({ chainId, chain, token, recipient, units }, { hold, isAnyway }) => {
        const [from] = (await ask('eth_requestAccounts')) ?? [];
        if (!isHex(from)) throw new Stop('failed');
        await takeChain(ask, () => evmChain(ask), chainId, chain);
        const transfer = { from, to: token, value: '0x0', data: `0xa9059cbb${word(recipient)}${word(units)}` };
        await checkEvmBalances(ask, transfer, units, isAnyway);
        // It may have been changed since, or the wallet said only that it would.
        if ((await evmChain(ask)) !== Number(chainId)) throw new Stop('wrongChain');
        hold();
        const hash = await ask('eth_sendTransaction', [transfer]);
        if (!/^0x[0-9a-f]{64}$/i.test(hash)) throw new Error('no hash of a transaction');
        return hash;
      },
      hasFailed: async (hash) => {
        const receipt = await ask('eth_getTransactionReceipt', [hash]);
        return receipt?.transactionHash?.toLowerCase() === hash.toLowerCase() && Number(receipt.status) === 0;
      },
    };
  }

  const evmChain = async (ask) => Number(await ask('eth_chainId'));

  /** @param chain what EIP-3085 adds, as JSON; undefined if the page does not know it. @throws Stop if the wallet stays elsewhere. */
  async function takeChain(ask, current, wanted, chain) {
    const isThere = async () => (await current()) === Number(wanted);
    const change = () => ask('wallet_switchEthereumChain', [{ chainId: wanted }]);
    if (await isThere()) return;
    try {
      await change();
    } catch (error) {
      if (isRefusal(error)) throw error;
      // 4902 is an unknown chain; some wallets report it as an internal error.
      if (chain === undefined || ![4902, -32603].includes(codeOf(error))) throw new Stop('wrongChain');
      await ask('wallet_addEthereumChain', [JSON.parse(chain)]);
      // Adding need not mean changing to it.
      if (!(await isThere())) await change();
    }
    if (!(await isThere())) throw new Stop('wrongChain');
  }

  /** A balance that cannot be read is no reason to stop: the wallet checks it too. @throws Stop for too little of something. */
  async function checkEvmBalances(ask, transfer, units, isAnyway) {
    const { from, to } = transfer;
    const quietly = (method, params) => ask(method, params).catch(() => null);
    const tokens = await quietly('eth_call', [{ to, data: `0x70a08231${word(from)}` }, 'latest']);
    // Nothing is at that address: this is another chain, whatever the wallet calls it.
    if (tokens === '0x') throw new Stop('wrongChain');
    if (isHex(tokens) && BigInt(tokens) < BigInt(units)) throw new Stop('noTokens');
    if (isAnyway) return;
    const fees = [
      quietly('eth_estimateGas', [transfer]),
      quietly('eth_gasPrice'),
      quietly('eth_getBalance', [from, 'latest']),
    ];
    const [gas, price, coins] = await Promise.all(fees);
    if ([gas, price, coins].every(isHex) && BigInt(gas) * BigInt(price) > BigInt(coins)) throw new Stop('noGas');
  }

  // ---- Tron

  /** @param method how its accounts are asked for. Older wallets answer with a code, newer ones with the accounts. */
  function tronWallet(provider, method = 'eth_requestAccounts') {
    const web = () => provider.tronWeb || window.tronWeb;
    // The last four bytes of a Tron network's first block are its chain id.
    const chainNow = async () => parseInt((await web().trx.getBlock(0)).blockID.slice(-8), 16);
    return {
      pay: async ({ chainId, token, recipient, units }, { hold, isAnyway }) => {
        const answer = await provider.request({ method });
        if (answer?.code !== undefined && answer.code !== 200) throw answer;
        await takeChain((name, params) => provider.request({ method: name, params }), chainNow, chainId);
        const { trx, transactionBuilder, defaultAddress } = web();
        // A locked wallet has none.
        const from = defaultAddress?.base58;
        if (!from) throw new Stop('confirm');
        const call = {
          token,
          from,
          parameters: [
            { type: 'address', value: recipient },
            { type: 'uint256', value: units },
          ],
        };
        await checkTronBalances(web(), call, units, isAnyway);
        const limits = { feeLimit: TRON_FEE_LIMIT, callValue: 0 };
        const built = await transactionBuilder.triggerSmartContract(token, TRANSFER, limits, call.parameters, from);
        if ((await chainNow()) !== Number(chainId)) throw new Stop('wrongChain');
        hold();
        const signed = await trx.sign(built.transaction);
        return broadcast(trx, signed);
      },
      hasFailed: async (hash) => {
        const { id, receipt } = await web().trx.getTransactionInfo(hash);
        return id === hash && receipt?.result !== undefined && receipt.result !== 'SUCCESS';
      },
    };
  }

  const olderTronWallet = (provider) => tronWallet(provider, 'tron_requestAccounts');

  async function broadcast(trx, signed) {
    const { result, code } = await trx.sendRawTransaction(signed);
    if (code === 'BANDWITH_ERROR') throw new Stop('noGas');
    if (TRON_NOT_SENT.includes(code)) throw new Stop('failed');
    if (result !== true && code !== 'DUP_TRANSACTION_ERROR') throw new Error('not known whether it was sent');
    if (!/^[0-9a-f]{64}$/i.test(signed.txID)) throw new Error('no hash of a transaction');
    return signed.txID;
  }

  /** @throws Stop for too little of something. The bandwidth of a transfer is not counted: it costs less than half a TRX. */
  async function checkTronBalances({ trx, transactionBuilder }, { token, from, parameters }, units, isAnyway) {
    const read = (name, given) =>
      transactionBuilder.triggerConstantContract(token, name, {}, given, from).catch(() => null);
    const held = (await read('balanceOf(address)', [{ type: 'address', value: from }]))?.constant_result?.[0];
    if (isHex(`0x${held}`) && BigInt(`0x${held}`) < BigInt(units)) throw new Stop('noTokens');
    if (isAnyway) return;
    const reads = [
      read(TRANSFER, parameters),
      trx.getAccountResources(from),
      trx.getChainParameters(),
      trx.getBalance(from),
    ];
    const [dryRun, own, rules, sun] = await Promise.all(reads).catch(() => []);
    const price = rules?.find(({ key }) => key === 'getEnergyFee')?.value;
    const bought = (dryRun?.energy_used ?? 0) - Math.max((own?.EnergyLimit ?? 0) - (own?.EnergyUsed ?? 0), 0);
    // Not true of anything that could not be read.
    if (bought * price > sun) throw new Stop('noGas');
  }

  // ---- Finding wallets

  /** Wallets that announce themselves; without any, the one that stands where wallets stood before there were announcements. */
  function walletsFor(family) {
    const all = [...wallets.values()].filter((wallet) => wallet.family === family);
    const announced = all.filter(({ isAnnounced }) => isAnnounced);
    return announced.length > 0 ? announced : all;
  }

  /** @param info what EIP-6963 says about a wallet. Of one that does not announce itself, at most the name is known. */
  function add(family, provider, info, payer, isAnnounced = true) {
    if (typeof provider?.request !== 'function') return;
    const id = isAnnounced ? `${family} ${info.uuid}` : family;
    const isKnown = [...wallets.values()].some((one) => one.isAnnounced && one.id !== id && one.provider === provider);
    if (isKnown || (wallets.size >= WALLETS_MAX && !wallets.has(id))) return;
    const name =
      String(info.name ?? '')
        .trim()
        .slice(0, NAME_MAX) || null;
    // The uuid is another one after a reload.
    const rdns = isAnnounced ? `${family} ${info.rdns}` : id;
    wallets.set(id, { id, rdns, family, name, isAnnounced, provider, ...payer(provider) });
    render();
  }

  const announcements = (family, payer) => (event) => {
    const { info, provider } = event.detail ?? {};
    if (info) add(family, provider, info, payer);
  };

  /** Some wallets come late, so this is done again when the page has loaded, and when one says that it is there. */
  function lookAround() {
    const { ethereum, tron, tronLink, okxwallet } = window;
    add('evm', ethereum, {}, evmWallet, false);
    const name = tron?.isTronLink || tronLink?.isTronLink ? 'TronLink' : null;
    if (tron?.tronWeb) add('tron', tron, { name }, tronWallet, false);
    else add('tron', tronLink ?? okxwallet?.tronLink, { name }, olderTronWallet, false);
  }

  addEventListener('eip6963:announceProvider', announcements('evm', evmWallet));
  addEventListener('TIP6963:announceProvider', announcements('tron', tronWallet));
  for (const event of ['load', 'ethereum#initialized', 'tron#initialized', 'tronLink#initialized'])
    addEventListener(event, lookAround);
  dispatchEvent(new Event('eip6963:requestProvider'));
  dispatchEvent(new Event('TIP6963:requestProvider'));
  lookAround();
  // The main part of the page has been replaced.
  document.addEventListener('shown', render);
  setInterval(() => void lookForOutcome(), OUTCOME_EVERY_MS);
  render();
})();
