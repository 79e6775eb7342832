/**
 * How closely the twin follows the vendor. `specification`: the rules of the sandbox's specification, which drops clauses that it does not
 * know and takes date math literally. `vendor`: what 8.15 does.
 */
export type Fidelity = "specification" | "vendor";
