/** What the bench asks its processes: the far ends of the calls, and the two programs between them. */

/** Callers, voice runtime and webhook client, in one process with one clock. */
export interface FarEndsQuestions {
  /** Starts the stand-ins for the voice runtime and for a collector of telemetry. */
  listen: { ask: Record<string, never>; answer: { runtimeUrl: string; collectorUrl: string } };
  /** Makes it so that a program has this many calls open. */
  open: { ask: { voiceUrl: string; calls: number }; answer: null };
  /** Streams both ways, in real time, over so many of the open calls, from the one at position `from` on. */
  stream: {
    ask: { voiceUrl: string; from: number; calls: number; durationMs: number };
    answer: StreamFigures;
  };
  /** Opens calls one after another and closes each. */
  setUp: { ask: { voiceUrl: string; calls: number }; answer: { beyondRuntimeMs: number[] } };
  /** Opens calls at a fixed rate, however long each takes, and closes each once it is there. */
  setUpAtRate: { ask: { voiceUrl: string; calls: number; perSecond: number }; answer: SetUpFigures };
  hangUp: { ask: { voiceUrl: string }; answer: null };
  /** Hangs up so many of the oldest calls and opens as many new ones. */
  renew: { ask: { voiceUrl: string; calls: number }; answer: null };
  /** Posts tool calls, each connection one after another. */
  tool: {
    ask: { toolUrl: string; secret: string; connections: number; durationMs: number };
    answer: ToolFigures;
  };
}

export interface SetUpFigures {
  beyondRuntimeMs: number[];
  /** How late a caller dialled at worst. */
  senderLateMs: number;
}

export interface StreamFigures {
  /** Frames sent in all, the uncounted ones at the start included. */
  sent: number;
  /** Frames that were counted. */
  frames: number;
  /** Frames that did not arrive, and frames that did not arrive as they were sent. */
  lost: number;
  changed: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** How late the far ends themselves sent at worst: beyond some ms the figures are theirs, not the program's. */
  senderLateMs: number;
  /** The same of one frame in a hundred. */
  senderLateP99Ms: number;
}

export interface ToolFigures {
  /** Requests in all, the uncounted ones at the start included. */
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** What the agent does besides forwarding; the floor does nothing else. */
export interface ProgramOptions {
  /** Where it records its calls. */
  recordDir?: string;
  /** Where it exports traces and metrics. */
  collectorUrl?: string;
}

/** A program under measurement: the agent, or the floor. */
export interface ProgramQuestions {
  start: {
    ask: { runtimeUrl: string; toolSecret: string } & ProgramOptions;
    answer: { voiceUrl: string; toolUrl: string };
  };
  /** Processor time since its start. */
  cpu: { ask: Record<string, never>; answer: { cpuMs: number } };
  /** After a garbage collection; the heap with the buffers outside it, and open descriptors, which only Linux counts. */
  memory: {
    ask: Record<string, never>;
    answer: { rssBytes: number; heapBytes: number; descriptors: number };
  };
}
