/** The Talk page: the browser as the phone. */
import "./talk.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { useResource } from "../api/resource.ts";
import { place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { useAction, useThrottled } from "../ui/hooks.ts";
import { Heading } from "../ui/layout.tsx";
import { Answerer, isScripted } from "./answerer.tsx";
import { CallEnded } from "./call-ended.tsx";
import { DialForm } from "./dial-form.tsx";
import { Line } from "./line.tsx";
import type { PhoneCall } from "./phone-call.ts";
import { placeCall } from "./place-call.ts";
import { knowsSamplesOnly, Recogniser } from "./recogniser.tsx";
import { SampleList } from "./sample-list.tsx";
import { SoundError } from "./sound.ts";
import {
  type Agent,
  EVERY_CALL,
  readCallOfSimulation,
  useAgents,
  useProviders,
  useSamples,
  useScripts,
} from "./speech.ts";
import { Transcript } from "./transcript.tsx";

/** A call fills in at most this often. */
const READ_EVERY_MS = 100;

export function Talk() {
  const { sandbox } = place.value;
  const agents = useAgents(sandbox);
  return (
    <>
      <Heading title="Talk" />
      {agents.error ? <Failure error={agents.error} retry={agents.reload} /> : null}
      {agents.isLoading ? <Loading /> : null}
      {agents.data?.length === 0 ? (
        <Empty>
          <p>
            No agent runs that could be called. Start one with <code>npm run dev</code>, or name its voice
            channel as an actor in the environment file.
          </p>
          <p>
            <button type="button" class="button" onClick={agents.reload}>
              Look again
            </button>
          </p>
        </Empty>
      ) : null}
      {agents.data && agents.data.length > 0 ? <Telephone agents={agents.data} /> : null}
    </>
  );
}

interface PlacedCall {
  phone: PhoneCall;
  /** Whose rules answer it. */
  script: string;
}

function Telephone({ agents }: { agents: readonly Agent[] }) {
  const { sandbox, query } = place.value;
  const [placed, setPlaced] = useState<PlacedCall>();
  const phone = placed?.phone;
  const [token, setToken] = useState("");
  const dialling = useAction(isDialFailure);
  const samples = useSamples(sandbox);
  const providers = useProviders(sandbox);
  const scripts = useScripts(sandbox);
  const agent = agents.find(({ url }) => url === query.get("agent")) ?? agents[0];
  const call = useCallOf(sandbox, phone?.simulationId);
  const state = phone?.state.value;
  const isUp = state !== undefined && state.name !== "ended";
  const { recognition, brain } = providers.data ?? {};
  const nextScript = query.get("script") ?? EVERY_CALL;
  const script = isUp && placed ? placed.script : nextScript;
  const answered = scripts.data?.find(({ simulation_id }) => simulation_id === script)?.samples;

  useHangUpOnLeaving(phone);
  const section = useFocusKeeper(phone && isUp);

  const dial = (microphone: "open" | "none") =>
    dialling.run(async () => {
      if (!agent || dialling.isRunning) return;
      const gain = recognition !== undefined && knowsSamplesOnly(recognition) ? "fixed" : "automatic";
      const chosen = brain && isScripted(brain) ? nextScript : EVERY_CALL;
      const options = { sandbox, url: agent.url, token, gain, script: chosen } as const;
      setPlaced({ phone: await placeCall(options, microphone), script: chosen });
    });

  return (
    <>
      <section class="card" aria-label="Telephone" ref={section} tabIndex={-1}>
        {phone && isUp ? (
          <Line phone={phone} isConnected={call.data?.status === "in-progress"} />
        ) : (
          <DialForm
            agents={agents}
            agent={agent?.url ?? ""}
            onAgent={(url) => setQuery({ agent: url === agents[0]?.url ? undefined : url })}
            token={token}
            onToken={setToken}
            wasRefused={state?.name === "ended" && state.end.by === "refused"}
            isDialling={dialling.isRunning}
            onDial={(microphone) => void dial(microphone)}
          />
        )}
        {dialling.failure ? (
          <div class="notice bad" role="alert">
            {dialling.failure.message}
          </div>
        ) : null}
        {phone && state?.name === "ended" ? (
          <CallEnded end={state.end} call={call.data} samples={samples.data?.samples ?? []} />
        ) : null}
      </section>
      {providers.error ? <Failure error={providers.error} retry={providers.reload} /> : null}
      {recognition ? <Recogniser recognition={recognition} /> : null}
      {brain ? (
        <Answerer
          brain={brain}
          scripts={scripts}
          script={script}
          simulation={phone?.simulationId}
          onScript={isUp ? undefined : (name) => setQuery({ script: name === EVERY_CALL ? undefined : name })}
        />
      ) : null}
      <div class="columns talk-columns">
        <Transcript
          phone={phone}
          call={call}
          recognition={recognition}
          locked={samples.data?.locked ?? undefined}
          onKept={() => {
            samples.reload();
            providers.reload();
            scripts.reload();
          }}
        />
        <SampleList
          samples={samples}
          answered={brain && isScripted(brain) ? answered : undefined}
          phone={isUp ? phone : undefined}
        />
      </div>
    </>
  );
}

/** Keeps the focus in an element whose buttons make room for others. @param what changes when they do */
function useFocusKeeper(what: boolean | undefined) {
  const element = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current && document.activeElement === document.body) element.current?.focus();
    isFirst.current = false;
  }, [what]);
  return element;
}

function isDialFailure(error: unknown): error is Error {
  return error instanceof SoundError || error instanceof ApiError;
}

/** The call of a simulation, as the twins see it; read again whenever something of it changes. */
function useCallOf(sandbox: string, simulation: string | undefined) {
  const call = useResource(simulation && `${sandbox} ${simulation}`, (signal) =>
    readCallOfSimulation(sandbox, simulation ?? "", signal),
  );
  const readAgain = useThrottled(call.reload, READ_EVERY_MS);
  useLive({
    change: ({ twin, table, row }) => {
      const isOfCall = twin === "vapi" && (table === "messages" || table === "calls");
      if (isOfCall && simulation !== undefined && row?.simulation_id === simulation) readAgain();
    },
    gap: readAgain,
  });
  return call;
}

/** A microphone that nobody sees must not stay open. */
function useHangUpOnLeaving(phone: PhoneCall | undefined): void {
  useEffect(() => {
    const hangUp = () => phone?.hangUp();
    window.addEventListener("pagehide", hangUp);
    return () => {
      window.removeEventListener("pagehide", hangUp);
      hangUp();
    };
  }, [phone]);
}
