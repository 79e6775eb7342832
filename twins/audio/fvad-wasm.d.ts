/** The package ships no types. These are the parts of its Emscripten module that we use. */
declare module "@echogarden/fvad-wasm" {
  export interface FvadModule {
    /** Replaced when the module's memory grows: read it anew after anything that may allocate. */
    readonly HEAP16: Int16Array;
    _malloc(sizeBytes: number): number;
    _free(pointer: number): void;
    /** A detector's address; 0 when memory ran out. */
    _fvad_new(): number;
    _fvad_free(detector: number): void;
    /** 0 (keeps most) to 3 (calls least speech). Answers 0, or -1 when refused. */
    _fvad_set_mode(detector: number, mode: number): number;
    /** 8000, 16000, 32000 or 48000. Answers 0, or -1 when refused. */
    _fvad_set_sample_rate(detector: number, sampleRate: number): number;
    /** One frame of 10, 20 or 30 ms. 1 = speech, 0 = none, -1 = wrong length. */
    _fvad_process(detector: number, frame: number, lengthSamples: number): number;
  }
  export default function fvad(): Promise<FvadModule>;
}
