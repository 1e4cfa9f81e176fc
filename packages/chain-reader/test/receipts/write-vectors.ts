import { writeFile } from 'node:fs/promises';
import { proofVectors } from './vectors.ts';

const file = new URL('../../../../docs/vectors/payment-proofs.json', import.meta.url);
await writeFile(file, `${JSON.stringify(proofVectors(), null, 2)}\n`);
