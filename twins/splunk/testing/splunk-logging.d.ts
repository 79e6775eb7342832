/** What the tests use of the vendor's client of its event collector. */
declare module "splunk-logging" {
  interface Config {
    url: string;
    token: string;
    maxRetries?: number;
    maxBatchCount?: number;
  }

  interface Context {
    message: unknown;
    metadata?: { time?: number; host?: string; source?: string; sourcetype?: string; index?: string };
    severity?: string;
  }

  type Callback = (error: Error | null, response: unknown, body: { text: string; code: number }) => void;

  class Logger {
    constructor(config: Config);
    error: (error: Error & { code?: number }, context: Context) => void;
    send(context: Context, callback?: Callback): void;
    flush(callback?: Callback): void;
  }

  const splunkLogging: { Logger: typeof Logger };
  export default splunkLogging;
}
