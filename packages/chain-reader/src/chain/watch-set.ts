export type WatchSet = ReturnType<typeof createWatchSet>;

const WORDS_PER_KEY = 5;
const DIGITS_PER_WORD = 8;
const INITIAL_SLOTS = 1024;
/** Above this share of used slots, probing sequences get long, so the table is rebuilt with more slots. */
const MAX_LOAD = 0.6;

const EMPTY = 0;
const USED = 1;
/** The slot of a deleted key is marked, so that probing sequences through it stay intact. */
const DELETED = 2;

/** An open-addressing hash table of 20-byte keys, five 32-bit words each; the number of slots is a power of two. */
type Table = { slots: number; keys: Uint32Array; marks: Uint8Array; occupied: number };

/**
 * The watched wallets of one network, stored so compactly that a million of them fit in memory and every transfer of a busy chain can be
 * tested. Addresses are 0x and 40 lowercase hex characters.
 */
export function createWatchSet() {
  let table = createTable(INITIAL_SLOTS);
  let size = 0;
  // Only one key is read at a time, so one buffer is enough.
  const key = new Uint32Array(WORDS_PER_KEY);

  return {
    has(address: string): boolean {
      readKey(address, key);
      return find(table, key) >= 0;
    },
    add(address: string): void {
      readKey(address, key);
      if (find(table, key) >= 0) return;
      if (table.occupied + 1 > table.slots * MAX_LOAD) table = rebuild(table, size + 1);
      insert(table, key);
      size += 1;
    },
    delete(address: string): void {
      readKey(address, key);
      const slot = find(table, key);
      if (slot < 0) return;
      table.marks[slot] = DELETED;
      size -= 1;
    },
    size: () => size,
    /** Every wallet, in any order. */
    addresses: (): Iterable<string> => readAddresses(table),
  };
}

function createTable(slots: number): Table {
  return { slots, keys: new Uint32Array(slots * WORDS_PER_KEY), marks: new Uint8Array(slots), occupied: 0 };
}

/** @returns the slot of this key, or −1. There is always an empty slot, so the search ends. */
function find({ slots, keys, marks }: Table, key: Uint32Array): number {
  let slot = hash(key) & (slots - 1);
  while (marks[slot] !== EMPTY) {
    if (marks[slot] === USED && holds(keys, slot, key)) return slot;
    slot = (slot + 1) & (slots - 1);
  }
  return -1;
}

/** Adds a key that is known to be absent. */
function insert(table: Table, key: Uint32Array): void {
  let slot = hash(key) & (table.slots - 1);
  while (table.marks[slot] !== EMPTY) slot = (slot + 1) & (table.slots - 1);
  table.keys.set(key, slot * WORDS_PER_KEY);
  table.marks[slot] = USED;
  table.occupied += 1;
}

/** Copies the keys into a table with room for at least half as many more. This also drops the marks of deleted keys. */
function rebuild(old: Table, size: number): Table {
  const table = createTable(Math.max(INITIAL_SLOTS, 2 ** Math.ceil(Math.log2((1.5 * size) / MAX_LOAD))));
  for (let slot = 0; slot < old.slots; slot += 1) {
    if (old.marks[slot] !== USED) continue;
    insert(table, old.keys.subarray(slot * WORDS_PER_KEY, (slot + 1) * WORDS_PER_KEY));
  }
  return table;
}

function* readAddresses({ slots, keys, marks }: Table): Generator<string> {
  for (let slot = 0; slot < slots; slot += 1) {
    if (marks[slot] !== USED) continue;
    const words = keys.subarray(slot * WORDS_PER_KEY, (slot + 1) * WORDS_PER_KEY);
    yield `0x${Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('')}`;
  }
}

/** Digit by digit, which takes a quarter of the time of parsing slices. It runs for every transfer of the chain. */
function readKey(address: string, key: Uint32Array): void {
  let position = 2;
  for (let word = 0; word < WORDS_PER_KEY; word += 1) {
    let value = 0;
    for (let digit = 0; digit < DIGITS_PER_WORD; digit += 1) {
      const code = address.charCodeAt(position);
      // '0' to '9' are 0x30 to 0x39, 'a' to 'f' 0x61 to 0x66.
      value = (value << 4) | ((code & 15) + 9 * (code >> 6));
      position += 1;
    }
    key[word] = value;
  }
}

function holds(keys: Uint32Array, slot: number, key: Uint32Array): boolean {
  const start = slot * WORDS_PER_KEY;
  for (let word = 0; word < WORDS_PER_KEY; word += 1) if (keys[start + word] !== key[word]) return false;
  return true;
}

/** Uses every word: wallets that were generated with the same prefix must not share a slot. */
function hash(words: Uint32Array): number {
  let mixed = 0x811c9dc5;
  for (const word of words) {
    mixed = Math.imul(mixed ^ word, 0x9e3779b1);
    mixed ^= mixed >>> 15;
  }
  return mixed >>> 0;
}
