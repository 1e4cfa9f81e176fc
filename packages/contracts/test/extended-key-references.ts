import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { HDKey } from '@scure/bip32';
import { computeAddress } from 'ethers/transaction';
import { HDNodeWallet } from 'ethers/wallet';
import { addressFromHex, type AddressFamily } from '../src/address.ts';

/** The mnemonic of public test vectors, whose keys everybody knows. */
const MNEMONIC = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

const coinTypes = { evm: 60, tron: 195 } as const;

const accountOf = (family: AddressFamily) =>
  HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/${coinTypes[family]}'/0'`);

export const accountKey = (family: AddressFamily): string => accountOf(family).neuter().extendedKey;
export const privateKey = (family: AddressFamily): string => accountOf(family).extendedKey;

/** 0/i by ethers, from the private key. */
export function byEthers(family: AddressFamily, count: number): string[] {
  const external = accountOf(family).deriveChild(0);
  return indexes(count).map((index) => {
    const { publicKey } = external.deriveChild(index);
    return addressFromHex(family, computeAddress(publicKey));
  });
}

/** 0/i by libraries that ethers does not use in these versions, from the extended public key. */
export function byScure(xpub: string, family: AddressFamily, count: number): string[] {
  const external = HDKey.fromExtendedKey(xpub).deriveChild(0);
  return indexes(count).map((index) => {
    const { publicKey } = external.deriveChild(index);
    const point = secp256k1.Point.fromBytes(publicKey!).toBytes(false);
    return addressFromHex(family, `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(-20)).toString('hex')}`);
  });
}

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
