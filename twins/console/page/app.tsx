/** The page: reads its address, and shows what it names. */
import "./ui/base.css";
import "./ui/layout.css";
import "./ui/controls.css";
import "./ui/content.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { useSandboxes } from "./api/sandboxes.ts";
import { session, startSession } from "./api/session.ts";
import { Calls } from "./calls/page.tsx";
import { Campaigns } from "./campaigns/page.tsx";
import { Datasets } from "./datasets/page.tsx";
import { FaultsAndClock } from "./faults/page.tsx";
import { Journal } from "./journal/page.tsx";
import { go, place, startPlace } from "./place.ts";
import { Talk } from "./talk/page.tsx";
import { Empty, Failure, Loading } from "./ui/feedback.tsx";
import { KeyList, listenToKeys } from "./ui/keys.tsx";
import { Layout } from "./ui/layout.tsx";
import { SignIn } from "./ui/sign-in.tsx";
import { World } from "./world/page.tsx";

function App() {
  if (session.value.state === "unknown") return null;
  if (session.value.state === "signed-out") return <SignIn />;
  if (place.value.sandbox === "") return <FirstSandbox />;
  return (
    <Layout>
      <CurrentPage />
      <KeyList />
    </Layout>
  );
}

/** Goes to the oldest sandbox. */
function FirstSandbox() {
  const { data, error, reload } = useSandboxes();
  const first = data?.[0]?.id;
  useEffect(() => {
    if (first !== undefined) go({ sandbox: first }, "replace");
  }, [first]);
  return (
    <main class="main">
      {error ? <Failure error={error} retry={reload} /> : null}
      {data === undefined && !error ? <Loading /> : null}
      {data?.length === 0 ? (
        <Empty>
          Your organisation has no sandbox. <code>POST /sandboxes</code> creates one; then load this page
          again.
        </Empty>
      ) : null}
    </main>
  );
}

function CurrentPage() {
  const { page, sandbox } = place.value;
  switch (page) {
    case "calls":
      return <Calls key={sandbox} />;
    case "talk":
      return <Talk key={sandbox} />;
    case "journal":
      return <Journal key={sandbox} />;
    case "world":
      return <World key={sandbox} />;
    case "faults":
      return <FaultsAndClock key={sandbox} />;
    case "campaigns":
      return <Campaigns />;
    case "datasets":
      return <Datasets key={sandbox} />;
  }
}

startPlace();
listenToKeys();
void startSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
