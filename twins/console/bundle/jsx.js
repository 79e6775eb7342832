/** What markup compiles to; esbuild adds these names to the files that need them. Its types would bring the browser's here. */
export { Fragment, h } from "preact";
