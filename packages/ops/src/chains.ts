import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { ListRescans } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { jumpChain, jumpView, listRescans, rescanChain, rescansView, rescanView } from '@quittance/operator/chains.ts';
import { Failure } from './failure.ts';
import { own, sent, type Run } from './run.ts';
import { note, printResult } from './text.ts';
import { waitForJump, waitForRescan } from './wait.ts';

export const chainRuns: readonly Run[] = [
  own(rescanChain, async (asked) => {
    const { api, values, options } = asked;
    const { answer } = await sent(rescanChain, asked);
    const ended = options.wait === 0 ? answer : await waitForRescan(api, answer, options.wait);
    printResult(ended, options, rescanView);
    if (ended.state === 'failed') throw new Failure('refused', ended.error ?? 'it has failed');
    if (ended.state !== 'done') note(`It goes on in the background: chain rescans ${values.network}`, options);
  }),
  own(listRescans, async ({ api, values: { network }, options }) => {
    const networks = network === undefined ? (await api.call(ReadChains)).map((known) => known.network) : [network];
    const pages = await Promise.all(networks.map((id) => api.call(ListRescans, { params: { network: id } })));
    const all = pages.flatMap(({ rescans }) => rescans);
    const newest = all.sort((a, b) => (a.requested_at < b.requested_at ? 1 : -1));
    printResult({ rescans: newest }, options, ({ rescans }) => rescansView(rescans));
  }),
  own(jumpChain, async (asked) => {
    const { api, options } = asked;
    const { answer } = await sent(jumpChain, asked);
    const ended = options.wait === 0 ? answer : await waitForJump(api, answer, options.wait);
    printResult(ended, options, jumpView);
    if (ended.state === 'failed') throw new Failure('refused', ended.error ?? 'it has failed');
    const isLeft = (ended.wallets ?? 0) > 0;
    if (isLeft) note('Until these wallets are back-filled, their payments do not expire: chain status', options);
  }),
];
