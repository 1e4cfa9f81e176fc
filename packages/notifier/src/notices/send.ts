import { noticeChannels, type NoticeChannel } from '@quittance/contracts/http/notifier.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import { neverWorks, type Outcome, type Senders } from '../channels/channel.ts';
import { channelsOf, destinationsOf } from '../settings/destinations.ts';
import { findMerchant } from '../settings/settings.sql.ts';
import {
  claimNotices,
  delayNotice,
  deleteOldNotices,
  endNotice,
  measureNotices,
  type ClaimedNotice,
} from './notice.sql.ts';
import { messageOf } from './text.ts';

type Parts = LoopContext & { pool: Pool; vault: KeyVault; senders: Senders; consoleUrl: string };

const INTERVAL_MS = 1_000;
const MEASURE_INTERVAL_MS = 15_000;
/** Notices of one channel that are being sent, each of another merchant. */
const MAX_IN_FLIGHT = 32;
/** With these pauses, the last of the attempts comes after about twelve hours. */
const MAX_ATTEMPTS = 20;
const RETRY = { firstMs: 5_000, maxMs: 3_600_000 };
/** After this time a notice is no news any more, for example when the process did not run for so long. */
const MAX_AGE_SECONDS = 172_800;

/** One loop for each channel, so that none waits for another. Call wake() when there are new notices. */
export function startSendLoops(parts: Parts): Loop {
  const loops = [...noticeChannels.map((channel) => startSendLoop(parts, channel)), startMeasureLoop(parts)];
  return {
    wake: () => loops.forEach((loop) => loop.wake()),
    close: async () => void (await Promise.all(loops.map((loop) => loop.close()))),
  };
}

function startSendLoop(parts: Parts, channel: NoticeChannel): Loop {
  const { pool, logger, metrics } = parts;
  const send = createSend(parts, channel);
  const inFlight = new Map<string, Promise<void>>();
  const run = async () => {
    const limit = MAX_IN_FLIGHT - inFlight.size;
    const claimed = limit === 0 ? [] : await claimNotices(pool, { channel, busy: [...inFlight.keys()], limit });
    for (const notice of claimed) {
      const { merchant_id: merchantId, event_id } = notice;
      const ended = send(notice)
        // Its lease ends, and another attempt follows.
        .catch((error: unknown) => logger.error({ error, event_id, channel }, 'an attempt to send a notice failed'))
        .then(() => {
          inFlight.delete(merchantId);
          loop.wake();
        });
      inFlight.set(merchantId, ended);
    }
    return { more: false };
  };
  const loop = startLoop({ name: `send ${channel}`, intervalMs: INTERVAL_MS, logger, metrics, run });
  return {
    wake: () => loop.wake(),
    close: async () => {
      await loop.close();
      await Promise.all(inFlight.values());
    },
  };
}

/** @returns a function that makes one attempt and stores its outcome. */
function createSend({ pool, vault, senders, consoleUrl, logger, metrics }: Parts, channel: NoticeChannel) {
  const total = metrics.counter(
    'notices_total',
    'Attempts to send notices to merchants, by outcome: sent, delayed, failed',
    ['channel', 'outcome'],
  );
  for (const outcome of ['sent', 'delayed', 'failed']) total.inc({ channel, outcome }, 0);
  const sender = senders[channel];

  async function attempt(notice: ClaimedNotice): Promise<Outcome> {
    const merchant = await findMerchant(pool, notice.merchant_id);
    if (merchant === null || !channelsOf(merchant).includes(channel))
      return neverWorks('the channel is no longer used');
    if (sender === null) return neverWorks('the operator has not set it up');
    if (notice.age_seconds > MAX_AGE_SECONDS) return neverWorks('it is too old');
    const message = messageOf(notice.event_id, notice.content, { language: merchant.language, consoleUrl });
    return sender(destinationsOf(merchant, vault), message);
  }

  return async (notice: ClaimedNotice): Promise<void> => {
    const outcome = await attempt(notice);
    const key = { merchant_id: notice.merchant_id, event_id: notice.event_id, channel };
    const { problem } = outcome;
    const isLast = notice.attempts + 1 >= MAX_ATTEMPTS;
    if (problem === null || outcome.isFinal || isLast) {
      await endNotice(pool, key, problem);
      total.inc({ channel, outcome: problem === null ? 'sent' : 'failed' });
      if (problem !== null) logger.warn({ ...key, problem }, 'a notice was given up');
      return;
    }
    const wishMs = (outcome.retryAfterSeconds ?? 0) * 1000;
    const delayMs = Math.min(RETRY.maxMs, Math.max(backoffMs(notice.attempts, RETRY), wishMs));
    await delayNotice(pool, key, { problem, delayMs });
    total.inc({ channel, outcome: 'delayed' });
  };
}

function startMeasureLoop({ pool, logger, metrics }: Parts): Loop {
  const waiting = metrics.gauge('notices_waiting', 'Notices that have not been sent yet', ['channel']);
  const overdue = metrics.gauge('notices_overdue_seconds', 'How long the oldest waiting notice has been due', [
    'channel',
  ]);
  const run = async () => {
    const measured = new Map((await measureNotices(pool)).map((row) => [row.channel, row]));
    for (const channel of noticeChannels) {
      waiting.set({ channel }, measured.get(channel)?.waiting ?? 0);
      overdue.set({ channel }, measured.get(channel)?.overdue_seconds ?? 0);
    }
    return { more: await deleteOldNotices(pool) };
  };
  return startLoop({ name: 'measure', intervalMs: MEASURE_INTERVAL_MS, logger, metrics, run });
}
