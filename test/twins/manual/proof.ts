/** A test of one sentence of a manual, found by the sentence's id. */
import type { EveryTwin, TwinUnderTest } from "../../support/every-twin.ts";

/** Fails when the sentence is not true of the twin. */
type Proof = (twin: TwinUnderTest, every: EveryTwin) => Promise<void>;
export type Proofs = Readonly<Record<string, Proof>>;
