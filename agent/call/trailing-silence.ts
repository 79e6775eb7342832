/**
 * The silence after each turn of the assistant. The runtime sends audio only while the assistant speaks, and a caller
 * that finds the end of a turn by listening (silence of about 1500 ms) would wait for ever without it.
 */
import { bytesOf } from "../pcm.ts";

const TRAILING_SILENCE_MS = 1_700;

/** 81,600 zero bytes, shared by all calls: never write to it. */
export const TRAILING_SILENCE = Buffer.alloc(bytesOf(TRAILING_SILENCE_MS));
