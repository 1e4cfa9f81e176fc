import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { TRANSFER_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';
import type { RawReceipt, RecordedChain } from './recorded-blocks.ts';

/** What must be published about one transfer, except its confirmations. Addresses are 20-byte hex. */
export type ExpectedTransfer = {
  transaction_id: string;
  transaction_event_index: number;
  block_number: number;
  block_hash: string;
  block_timestamp: string;
  from: string;
  to: string;
  amount_units: string;
};

/** The transfers in the receipts, read without any code of the service. */
export function expectedTransfers({ blocks }: RecordedChain, token: string): ExpectedTransfer[] {
  return [...blocks.entries()].flatMap(([number, { header, receipts }]) =>
    receipts.filter(hasSucceeded).flatMap(({ transactionHash, logs }) =>
      logs.flatMap(({ address, topics, data }, position): ExpectedTransfer[] => {
        const [event, from = '', to = ''] = topics;
        if (address.toLowerCase() !== token || event?.toLowerCase() !== TRANSFER_TOPIC) return [];
        if (topics.length !== 3 || data.length !== 66 || BigInt(data) === 0n) return [];
        return [
          {
            transaction_id: transactionHash.slice(2).toLowerCase(),
            transaction_event_index: position,
            ...{ block_number: number, block_hash: header.hash.toLowerCase() },
            block_timestamp: new Date(Number(header.timestamp) * 1000).toISOString(),
            ...{ from: addressIn(from), to: addressIn(to), amount_units: BigInt(data).toString() },
          },
        ];
      }),
    ),
  );
}

const hasSucceeded = ({ status, root }: RawReceipt): boolean =>
  status === '0x1' || (status === undefined && root !== undefined);
const addressIn = (topic: string): string => `0x${topic.slice(26).toLowerCase()}`;

/** The same from a message. @param hexOfAddress converts an address from the network's own form. */
export const toldIn = (message: TransferObserved, hexOfAddress: (address: string) => string): ExpectedTransfer => ({
  transaction_id: message.transaction_id,
  transaction_event_index: message.transaction_event_index,
  block_number: message.block_number,
  block_hash: message.block_hash,
  block_timestamp: new Date(message.block_timestamp).toISOString(),
  from: hexOfAddress(message.from),
  to: hexOfAddress(message.to),
  amount_units: message.amount_units,
});
