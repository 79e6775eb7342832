/** The ids that the store gives. */

const ALPHABET = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
/** Four words of 30 bits; five letters of 6 bits each make one. */
const WORD = 2 ** 30;
const LETTERS = 5;
/** After so many each bit of the numbers has changed about half of the others. */
const ROUNDS = 12;

const letters = Buffer.alloc(4 * LETTERS);

/**
 * As the vendor's own look; the same for the same number of the write and of the row, so that a replayed run has the same ids, and
 * another for any other. Both, for rows are counted anew when a state is loaded, while the number of a write is always beyond that of
 * every document there is.
 */
export function generatedId(seqNo: number, row: number): string {
  let a = row % WORD;
  let b = Math.floor(row / WORD);
  let c = seqNo % WORD;
  let d = Math.floor(seqNo / WORD);
  // A Feistel network: each round can be undone, so that no two pairs of numbers come to the same.
  for (let round = 1; round <= ROUNDS; round++) {
    const next = b ^ scrambled(a, round);
    b = c;
    c = d;
    d = a;
    a = next;
  }
  write(a, 0);
  write(b, LETTERS);
  write(c, 2 * LETTERS);
  write(d, 3 * LETTERS);
  return letters.toString("latin1");
}

function scrambled(word: number, round: number): number {
  let bits = Math.imul(word + Math.imul(round, 0x9e3779b9), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) & (WORD - 1);
}

function write(word: number, at: number): void {
  let bits = word;
  for (let letter = 0; letter < LETTERS; letter++) {
    letters[at + letter] = ALPHABET[bits & 63] ?? 0;
    bits >>>= 6;
  }
}
