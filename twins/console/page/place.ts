/** Where the user is: the page's address, as a value. Everything that was chosen is in it, so a link can be sent on. */
import { computed, signal } from "@preact/signals";

const PAGES = ["calls", "talk", "journal", "world", "faults", "datasets", "campaigns"] as const;
export type PageName = (typeof PAGES)[number];

export interface Place {
  /** Empty: the address names none. */
  sandbox: string;
  page: PageName;
  /** What follows the page's name, decoded: `[call id]`, `[twin, table]`. */
  rest: readonly string[];
  query: URLSearchParams;
}

const BASE = "/console";

const address = signal(new URL(window.location.href));

/** The place that the address names. */
export const place = computed((): Place => {
  const [sandbox = "", page = "calls", ...rest] = segmentsOf(address.value.pathname);
  const known = PAGES.find((each) => each === page) ?? "calls";
  return { sandbox, page: known, rest, query: address.value.searchParams };
});

function segmentsOf(pathname: string): string[] {
  return pathname
    .slice(BASE.length)
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment;
      }
    });
}

/** What may change of a place; `rest` and `query` are empty when the page changes and they are not given. */
export interface Destination {
  sandbox?: string;
  page?: PageName;
  rest?: readonly string[];
  query?: Record<string, string | undefined>;
}

/** The address of a destination, from here. */
export function hrefOf(to: Destination): string {
  const here = place.peek();
  const page = to.page ?? here.page;
  const rest = to.rest ?? (to.page === undefined ? here.rest : []);
  const path = [to.sandbox ?? here.sandbox, page, ...rest].map(encodeURIComponent).join("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(to.query ?? {})) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  return `${BASE}/${path}${query.size > 0 ? `?${query}` : ""}`;
}

/** Goes somewhere else; `replace` leaves no step to go back to. */
export function go(to: Destination, how: "push" | "replace" = "push"): void {
  const href = hrefOf(to);
  if (how === "push") history.pushState(null, "", href);
  else history.replaceState(null, "", href);
  address.value = new URL(window.location.href);
}

/** Changes members of the query and keeps the others; an empty value removes one. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const { rest, query } = place.peek();
  go({ rest, query: { ...Object.fromEntries(query), ...changes } }, "replace");
}

/** Follows the browser's buttons, and links to places without loading the page again. */
export function startPlace(): void {
  dropCode();
  window.addEventListener("popstate", () => {
    address.value = new URL(window.location.href);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link?.target !== "" || link.hasAttribute("download")) return;
    const url = new URL(link.href, window.location.href);
    if (url.origin !== window.location.origin || !url.pathname.startsWith(`${BASE}/`)) return;
    event.preventDefault();
    history.pushState(null, "", url);
    address.value = url;
    window.scrollTo(0, 0);
  });
}

/** A code that did not let the browser in is used up or unknown: it stays out of bookmarks and of links that are sent on. */
function dropCode(): void {
  const url = new URL(window.location.href);
  if (!url.searchParams.has("code")) return;
  url.searchParams.delete("code");
  history.replaceState(null, "", url);
  address.value = url;
}
