import { readFile } from 'node:fs/promises';
import type { PaymentProof } from '../../src/index.ts';

type Vector = { name: string; block_hash: string; proof: PaymentProof };

const file = new URL('../../../../docs/vectors/payment-proofs.json', import.meta.url);

/** Proofs of made blocks: those that hold, and those of blocks with a fault. */
export const { proofs, refused } = JSON.parse(await readFile(file, 'utf8')) as {
  proofs: Vector[];
  refused: (Vector & { step: string })[];
};
