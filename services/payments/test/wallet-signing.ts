import { keccak256 } from 'ethers/crypto';
import { concat, toUtf8Bytes } from 'ethers/utils';
import type { Wallet } from 'ethers/wallet';

/** As signMessageV2() of TronWeb does. */
export function signTron({ signingKey }: Wallet, text: string): string {
  const bytes = toUtf8Bytes(text);
  return signingKey.sign(keccak256(concat([toUtf8Bytes(`\x19TRON Signed Message:\n${bytes.length}`), bytes])))
    .serialized;
}
