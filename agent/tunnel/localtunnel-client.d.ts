/** The part of the package localtunnel behind its main function, which has no types, that the agent uses. */
declare module "localtunnel/lib/Tunnel.js" {
  import type { EventEmitter } from "node:events";
  import type { Socket } from "node:net";

  interface ClientOptions {
    /** Address of the tunnel server. */
    host: string;
    /** Port on this machine that the tunnel leads to. */
    port: number;
  }

  /** A server's answer to a request for a tunnel. */
  interface Registration {
    id: string;
    port: number;
    url: string;
    ip?: string | undefined;
    max_conn_count?: number | undefined;
  }

  /** The connections to the tunnel server. */
  interface Cluster extends EventEmitter {
    /** Adds a connection. */
    open(): void;
    on(event: "open", listener: (remote: Socket) => void): this;
    /** A connection is gone; the client adds another. */
    on(event: "dead", listener: () => void): this;
  }

  /** Events: `url` once the first connection is open, `error`, `close`. */
  export default class Tunnel extends EventEmitter {
    constructor(options: ClientOptions);
    /** There once `open` has the registration. */
    tunnelCluster: Cluster;
    /** Asks the server for a tunnel: once a second for ever while it gives none. */
    _init(done: (error: Error | null, info?: object) => void): void;
    _getInfo(registration: Registration): object;
    open(done: (error?: Error) => void): void;
    close(): void;
  }
}
