/** The frame around every page: which sandbox, which page, whether it is live. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useClock } from "../api/clock.ts";
import { liveState, useLive } from "../api/live.ts";
import { useSandboxes } from "../api/sandboxes.ts";
import { endSession, session } from "../api/session.ts";
import { go, hrefOf, type PageName, place } from "../place.ts";
import { showKeys, useKeys } from "./keys.tsx";

const TITLES: Readonly<Record<PageName, string>> = {
  calls: "Calls",
  talk: "Talk",
  journal: "Journal",
  world: "World",
  faults: "Faults and clock",
  datasets: "Datasets",
  campaigns: "Campaigns",
};

const PAGE_KEYS: Readonly<Record<PageName, string>> = {
  calls: "g c",
  talk: "g t",
  journal: "g j",
  world: "g w",
  faults: "g f",
  datasets: "g d",
  campaigns: "g a",
};

const allEntries = Object.entries(TITLES) as [PageName, string][];

export function Layout({ children }: { children: ComponentChildren }) {
  const { page, sandbox } = place.value;
  const hasCampaigns = session.value.state === "signed-in" && session.value.hasCampaigns;
  const entries = allEntries.filter(([name]) => name !== "campaigns" || hasCampaigns);
  // Every page says whether it is live, and shows at once what comes while another is open.
  useLive({});
  useKeys(
    entries.map(([name, title]) => ({ keys: PAGE_KEYS[name], what: title, run: () => go({ page: name }) })),
  );
  return (
    <div class="layout">
      <header class="side">
        <span class="name">offhook</span>
        <SandboxChoice sandbox={sandbox} />
        <nav aria-label="Pages">
          {entries.map(([name, title]) => (
            <a key={name} href={hrefOf({ page: name })} aria-current={name === page ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="bottom">
          <LiveTag />
          <ClockTag />
          <button type="button" class="button plain small" onClick={showKeys}>
            Keys <kbd>?</kbd>
          </button>
          <button type="button" class="button plain small" onClick={() => void endSession()}>
            Sign out
          </button>
        </div>
      </header>
      <main class="main">{children}</main>
    </div>
  );
}

function SandboxChoice({ sandbox }: { sandbox: string }) {
  const { data = [] } = useSandboxes();
  const ids = [...new Set([...data.map(({ id }) => id), sandbox])];
  const organisation = session.value.state === "signed-in" ? session.value.organisation : "";
  return (
    <label class="field" title={organisation}>
      <span class="label">Sandbox</span>
      <select
        value={sandbox}
        onChange={({ currentTarget }) => go({ sandbox: currentTarget.value, rest: [], query: {} })}
      >
        {ids.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
    </label>
  );
}

const LIVE = {
  live: { className: "tag good", text: "live" },
  connecting: { className: "tag", text: "connecting" },
  reconnecting: { className: "tag warn", text: "reconnecting" },
} as const;

/** Whether what is shown follows what happens. */
export function LiveTag() {
  const { className, text } = LIVE[liveState.value];
  return (
    <span class={className} role="status">
      {text}
    </span>
  );
}

/** Says so where the sandbox's time is not the machine's: every time that the twins tell is that one. */
function ClockTag() {
  const { data } = useClock();
  if (data === undefined || data.mode === "live") return null;
  return (
    <a class="tag warn" href={hrefOf({ page: "faults" })}>
      clock: {data.mode}
    </a>
  );
}

/** The title of a page, with what can be done there at its end. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} – offhook console`;
  }, [title]);
  return (
    <div class="heading">
      <h1>{title}</h1>
      {children === undefined ? null : <div class="end">{children}</div>}
    </div>
  );
}
