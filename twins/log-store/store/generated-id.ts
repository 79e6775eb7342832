/** The ids that the store generates. */

const ALPHABET = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
/** An id encodes four words of 30 bits, each as five letters of 6 bits. */
const WORD = 2 ** 30;
const LETTERS = 5;
/** Enough for each input bit to change about half of the output bits. */
const ROUNDS = 12;

const letters = Buffer.alloc(4 * LETTERS);

/**
 * An id that looks like the vendor's: a bijection of the write's sequence number and the row number, so a replayed run has the same
 * ids. It needs both numbers: rows are counted anew when a state is loaded, while a sequence number always exceeds those of all
 * present documents.
 */
export function generatedId(seqNo: number, row: number): string {
  let a = row % WORD;
  let b = Math.floor(row / WORD);
  let c = seqNo % WORD;
  let d = Math.floor(seqNo / WORD);
  // A Feistel network: each round can be undone, so no two inputs give the same id.
  for (let round = 1; round <= ROUNDS; round++) {
    const next = b ^ scramble(a, round);
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

function scramble(word: number, round: number): number {
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
