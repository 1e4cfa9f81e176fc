/**
 * Runs in a page before its own script: a wallet's provider object. It knows nothing itself. Each question goes to the test, which answers as
 * the wallet.
 */
window.installTestWallet = ({ id, family, name, rdns, announces }) => {
  const ask = async (method, params) => {
    const answer = await window.askTestWallet(id, method, params);
    if ('error' in answer) throw answer.error;
    return answer.result;
  };
  const provider = { request: ({ method, params = [] }) => ask(method, params) };

  if (family === 'tron') {
    const part = (group, names) =>
      Object.fromEntries(names.map((method) => [method, (...params) => ask(`${group}.${method}`, params)]));
    provider.tronWeb = {
      defaultAddress: { base58: false },
      transactionBuilder: part('transactionBuilder', ['triggerConstantContract', 'triggerSmartContract']),
      trx: part('trx', [
        ...['getBlock', 'getAccountResources', 'getChainParameters', 'getBalance'],
        ...['getTransactionInfo', 'sign', 'sendRawTransaction'],
      ]),
    };
    const request = provider.request;
    provider.request = async (question) => {
      const answer = await request(question);
      // TronLink shows the account to a page that its owner has let in.
      if (/requestAccounts$/.test(question.method))
        provider.tronWeb.defaultAddress.base58 = await ask('defaultAddress', []);
      return answer;
    };
  }

  const [prefix, older] = family === 'evm' ? ['eip6963', 'ethereum'] : ['TIP6963', 'tronLink'];
  if (announces === 'never') {
    window[older] = provider;
    return;
  }
  const detail = Object.freeze({
    info: { uuid: crypto.randomUUID?.() ?? String(Math.random()), name, rdns, icon: '' },
    provider,
  });
  const announce = () => dispatchEvent(new CustomEvent(`${prefix}:announceProvider`, { detail }));
  window[`announce ${id}`] = announce;
  if (announces === 'late') return;
  announce();
  addEventListener(`${prefix}:requestProvider`, announce);
};
