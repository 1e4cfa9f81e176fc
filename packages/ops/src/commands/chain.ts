import type { Command } from 'commander';
import { ListOperatorActions, ResumeChain } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import { CreateJump } from '@quittance/contracts/http/chain-watcher/jumps.ts';
import { CreateRescan, ListRescans } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { ReadChains } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Api } from '../api.ts';
import { asks, authorOf, changes, count, momentArgument, reads } from '../command.ts';
import type { ChangeOptions, JsonOption, Ops } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, noteOlder, printResult } from '../output.ts';
import { actionsView, chainsView, jumpView, rescansView, rescanView, resumedView } from '../views/chain.ts';
import { waitForJump, waitForRescan } from '../wait.ts';

type RescanOptions = ChangeOptions & { fromBlock?: number; since?: string; toBlock?: number; wait: number };

export function chainCommands(program: Command, ops: Ops): void {
  const chain = program
    .command('chain')
    .description('how far the chains are followed, and what to do when they are not');
  status(chain, ops);
  rescan(chain, ops);
  rescans(chain, ops);
  jump(chain, ops);
  resume(chain, ops);
  audit(chain, ops);
}

function status(chain: Command, { api }: Ops): void {
  reads(chain.command('status'))
    .description('head, finality, cursor and lag of every network, and how its nodes answer')
    .action(async (options: JsonOption) => printResult(await api.call(ReadChains), options, chainsView));
}

function rescan(chain: Command, { api, config }: Ops): void {
  changes(chain.command('rescan'))
    .description('read final blocks once more, for transfers that were missed')
    .argument('<network>', 'id in the networks file')
    .option('--from-block <number>', 'the first block', count)
    .option('--since <time>', 'or a time: the first block at or after it', momentArgument)
    .option('--to-block <number>', 'the last block (default: the last final one)', count)
    .option('--wait <seconds>', 'how long to wait until it is done', count, 0)
    .action(async (network: string, options: RescanOptions) => {
      const { fromBlock, since, toBlock } = options;
      if ((fromBlock === undefined) === (since === undefined))
        throw new Failure('wrongUse', 'Say where to begin, with --from-block or with --since.');
      const rescan = await api.call(CreateRescan, {
        params: { network },
        body: { from_block: fromBlock, since, to_block: toBlock },
        author: authorOf(options, config),
      });
      const ended = options.wait === 0 ? rescan : await waitForRescan(api, rescan, options.wait);
      printResult(ended, options, rescanView);
      if (ended.state === 'failed') throw new Failure('refused', ended.error ?? 'it has failed');
      if (ended.state !== 'done') note(`It is worked off in the background: chain rescans ${network}`, options);
    });
}

function rescans(chain: Command, { api }: Ops): void {
  reads(chain.command('rescans'))
    .description('the newest hundred rescans of each network, and how far they are')
    .argument('[network]', 'id in the networks file')
    .action(async (network: string | undefined, options: JsonOption) => {
      const networks = network === undefined ? (await api.call(ReadChains)).map((known) => known.network) : [network];
      const pages = await Promise.all(networks.map((id) => api.call(ListRescans, { params: { network: id } })));
      const all = pages.flatMap(({ rescans: page }) => page);
      const newest = all.sort((a, b) => (a.requested_at < b.requested_at ? 1 : -1));
      printResult({ rescans: newest }, options, rescansView);
    });
}

function jump(chain: Command, { api, config }: Ops): void {
  asks(changes(chain.command('jump')))
    .description('go on at the last final block without reading what lies before it, after a long absence')
    .argument('<network>', 'id in the networks file')
    .option('--to <block>', 'or at this final block', count)
    .option('--wait <seconds>', 'how long to wait until it is done', count, 30)
    .action(async (network: string, options: ChangeOptions & { to?: number; wait: number }) => {
      const author = authorOf(options, config);
      await confirm(() => jumpQuestion(api, network), options);
      const asked = await api.call(CreateJump, { params: { network }, body: { to_block: options.to }, author });
      const ended = options.wait === 0 ? asked : await waitForJump(api, asked, options.wait);
      printResult(ended, options, jumpView);
      if (ended.state === 'failed') throw new Failure('refused', ended.error ?? 'it has failed');
      const isLeft = (ended.wallets ?? 0) > 0;
      if (isLeft) note('Until these wallets are back-filled, their payments do not expire: chain status', options);
    });
}

function resume(chain: Command, { api, config }: Ops): void {
  asks(changes(chain.command('resume')))
    .description('let a halted network go on')
    .argument('<network>', 'id in the networks file')
    .option('--accept-fork', "take the nodes' chain for the right one, also below what had been final; once")
    .action(async (network: string, options: ChangeOptions & { acceptFork?: boolean }) => {
      const acceptFork = options.acceptFork ?? false;
      const author = authorOf(options, config);
      if (acceptFork) await confirm(forkQuestion(network), options);
      const resumed = await api.call(ResumeChain, { params: { network }, body: { accept_fork: acceptFork }, author });
      printResult(resumed, options, resumedView);
      note('Its leader notices within seconds. Whether it goes on: chain status', options);
    });
}

function audit(chain: Command, { api }: Ops): void {
  reads(chain.command('audit'))
    .description('who resumed, rescanned or settled what, when and why; newest first')
    .argument('[network]', 'id in the networks file')
    .option('--before <time>', 'only what was done before this moment', momentArgument)
    .action(async (network: string | undefined, options: JsonOption & { before?: string }) => {
      const page = await api.call(ListOperatorActions, { query: { network, before: options.before } });
      printResult(page, options, actionsView);
      const which = network === undefined ? '' : ` ${network}`;
      noteOlder(page.actions, options, (last) => `chain audit${which} --before ${last.at}`);
    });
}

async function jumpQuestion(api: Api, network: string): Promise<string> {
  const known = (await api.call(ReadChains)).find((chain) => chain.network === network);
  const lag = known?.lag_blocks ?? null;
  const blocks = lag === null ? 'the next' : `some ${String(lag)}`;
  return `Go on at the last final block of ${network} and leave ${blocks} blocks out? They are read only for wallets that are watched.`;
}

const forkQuestion = (network: string): string =>
  `Follow the nodes of ${network} below the block that they had called final? Transfers that are not on their chain are retracted.`;
