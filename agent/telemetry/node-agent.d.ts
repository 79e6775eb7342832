/** The method by which Node's client hands a request to its agent; Node's types leave it out. */
import "node:http";

declare module "node:http" {
  interface Agent {
    addRequest(request: ClientRequest, options: object): void;
  }
}
