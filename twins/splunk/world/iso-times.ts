/** Times as ISO 8601 has them, one after the other: many in a row are of one second. */
export class IsoTimes {
  #second = Number.NaN;
  /** As far as the point behind the second. */
  #text = "";

  /** @param micros since 1970, in the years -271821 to 275760 */
  of(micros: number): string {
    const second = Math.floor(micros / 1_000_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toISOString().slice(0, -"000Z".length);
    }
    const rest = micros - second * 1_000_000;
    const ms = Math.floor(rest / 1000);
    const finer = rest - ms * 1000;
    return `${this.#text}${threeDigits(ms)}${finer === 0 ? "" : threeDigits(finer)}Z`;
  }
}

function threeDigits(number: number): string {
  return number < 10 ? `00${number}` : number < 100 ? `0${number}` : String(number);
}
