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
import { CallEnded } from "./call-ended.tsx";
import { DialForm } from "./dial-form.tsx";
import { Line } from "./line.tsx";
import { PhoneCall } from "./phone-call.ts";
import { knowsSamplesOnly, Recogniser } from "./recogniser.tsx";
import { SampleList } from "./sample-list.tsx";
import { SoundError } from "./sound.ts";
import {
  type Agent,
  beginSimulation,
  endSimulation,
  readCallOfSimulation,
  useAgents,
  useRecognition,
  useSamples,
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

function Telephone({ agents }: { agents: readonly Agent[] }) {
  const { sandbox, query } = place.value;
  const [phone, setPhone] = useState<PhoneCall>();
  const [token, setToken] = useState("");
  const dialling = useAction(isDialFailure);
  const samples = useSamples(sandbox);
  const recognition = useRecognition(sandbox);
  const agent = agents.find(({ url }) => url === query.get("agent")) ?? agents[0];
  const call = useCallOf(sandbox, phone?.simulationId);
  const state = phone?.state.value;
  const isUp = state !== undefined && state.name !== "ended";

  useHangUpOnLeaving(phone);
  useEffect(() => {
    if (phone && state?.name === "ended") void endSimulation(sandbox, phone.simulationId).catch(ignore);
  }, [phone, state?.name]);
  const section = useFocusKeeper(phone && isUp);

  const dial = (microphone: "open" | "none") =>
    dialling.run(async () => {
      if (!agent || dialling.isRunning) return;
      const simulationId = await simulationOf(sandbox);
      const listensToSamples = recognition.data !== undefined && knowsSamplesOnly(recognition.data);
      const gain = listensToSamples ? "fixed" : "automatic";
      setPhone(await PhoneCall.dial({ url: agent.url, simulationId, token, gain }, microphone));
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
      <Recogniser recognition={recognition} />
      <div class="columns talk-columns">
        <Transcript
          phone={phone}
          call={call}
          recognition={recognition.data}
          locked={samples.data?.locked ?? undefined}
          onKept={() => {
            samples.reload();
            recognition.reload();
          }}
        />
        <SampleList samples={samples} phone={isUp ? phone : undefined} />
      </div>
    </>
  );
}

function ignore(): void {}

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

/** An environment without an engine has no simulations; the call is found by any id that is its own. */
async function simulationOf(sandbox: string): Promise<string> {
  try {
    return await beginSimulation(sandbox);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return `console-${crypto.randomUUID()}`;
    throw error;
  }
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
