/**
 * How closely the twin follows the vendor. `specification`: the rules of the sandbox's specification, which drops
 * clauses it does not know and takes date math literally. `vendor`: the behaviour of 8.15.
 */
export type Fidelity = "specification" | "vendor";
