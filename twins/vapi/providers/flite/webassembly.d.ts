/** The parts of the WebAssembly API we use; the Node 20 type package declares the namespace without its classes. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, object>);
  }
}
