/** A program whose end hangs: for tests of what ends it all the same. */
import { endOnSignal } from "@offhook/platform/server/end-on-signal";

endOnSignal(() => new Promise(() => undefined));
// A promise alone keeps no process alive.
setInterval(() => undefined, 60_000);
console.log("ready");
