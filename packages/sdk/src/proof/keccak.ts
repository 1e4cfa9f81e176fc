// Ethereum hashes with Keccak-256 as it was before NIST changed the padding for SHA-3, so neither Web Crypto nor Node's crypto has it.
// Source: The Keccak reference 3.0, sections 1.2 and 2. Lanes of 64 bits are two words of 32, the low one first.

const RATE_BYTES = 136;
const DIGEST_BYTES = 32;
const WORDS = 50;
const ROUNDS = 24;

/** @returns 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  const state = new Int32Array(WORDS);
  const padded = new Uint8Array((Math.floor(data.length / RATE_BYTES) + 1) * RATE_BYTES);
  padded.set(data);
  // Both marks of the padding may fall on one byte.
  padded.set([data.length === padded.length - 1 ? 0x81 : 0x01], data.length);
  if (data.length < padded.length - 1) padded.set([0x80], padded.length - 1);
  const view = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    for (let word = 0; word < RATE_BYTES / 4; word += 1)
      state[word] = at(state, word) ^ view.getInt32(block + 4 * word, true);
    permute(state);
  }
  const digest = new DataView(new ArrayBuffer(DIGEST_BYTES));
  for (let word = 0; word < DIGEST_BYTES / 4; word += 1) digest.setInt32(4 * word, at(state, word), true);
  return new Uint8Array(digest.buffer);
}

const at = (words: Int32Array, place: number): number => words[place] ?? 0;

/** The steps rho and pi: each lane comes to this word and is turned by so many bits, after the lane that was there goes on. */
const places = new Int32Array(24);
const turns = Int32Array.from(places, (_, step) => (((step + 1) * (step + 2)) / 2) % 64);
for (let step = 0, x = 1, y = 0; step < places.length; step += 1) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  places[step] = 2 * (x + 5 * y);
}

/** The step iota: what each round adds to the first lane, from a shift register of 8 bits. */
const roundConstants = new Int32Array(2 * ROUNDS);
for (let round = 0, register = 1; round < ROUNDS; round += 1)
  for (let exponent = 0; exponent < 7; exponent += 1) {
    const bit = (1 << exponent) - 1;
    const word = 2 * round + (bit >> 5);
    if ((register & 1) === 1) roundConstants[word] = at(roundConstants, word) ^ (1 << (bit & 31));
    register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0);
  }

/** Keccak-f[1600], in place. */
function permute(state: Int32Array): void {
  const columns = new Int32Array(10);
  for (let round = 0; round < ROUNDS; round += 1) {
    mixColumns(state, columns);
    let low = at(state, 2);
    let high = at(state, 3);
    for (let step = 0; step < places.length; step += 1) {
      const place = at(places, step);
      const bits = at(turns, step);
      const first = bits < 32 ? low : high;
      const second = bits < 32 ? high : low;
      low = at(state, place);
      high = at(state, place + 1);
      // A shift takes its number of bits modulo 32.
      state[place] = (first << bits) | (second >>> -bits);
      state[place + 1] = (second << bits) | (first >>> -bits);
    }
    for (let start = 0; start < WORDS; start += 10) {
      for (let x = 0; x < 10; x += 1) columns[x] = at(state, start + x);
      for (let x = 0; x < 10; x += 1)
        state[start + x] = at(columns, x) ^ (~at(columns, (x + 2) % 10) & at(columns, (x + 4) % 10));
    }
    state[0] = at(state, 0) ^ at(roundConstants, 2 * round);
    state[1] = at(state, 1) ^ at(roundConstants, 2 * round + 1);
  }
}

/** The step theta: adds to each column its two neighbours' parity. */
function mixColumns(state: Int32Array, columns: Int32Array): void {
  for (let x = 0; x < 10; x += 1)
    columns[x] = at(state, x) ^ at(state, x + 10) ^ at(state, x + 20) ^ at(state, x + 30) ^ at(state, x + 40);
  for (let x = 0; x < 10; x += 2) {
    const low = at(columns, (x + 2) % 10);
    const high = at(columns, (x + 3) % 10);
    const addedLow = at(columns, (x + 8) % 10) ^ ((low << 1) | (high >>> 31));
    const addedHigh = at(columns, (x + 9) % 10) ^ ((high << 1) | (low >>> 31));
    for (let lane = x; lane < WORDS; lane += 10) {
      state[lane] = at(state, lane) ^ addedLow;
      state[lane + 1] = at(state, lane + 1) ^ addedHigh;
    }
  }
}
