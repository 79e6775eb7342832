/** What was said and done in the call, as it comes. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Resource } from "../api/resource.ts";
import type { CallDetails, CallMessage } from "../calls/types.ts";
import { Empty, Failure } from "../ui/feedback.tsx";
import { formatDuration, formatPosition } from "../ui/format.ts";
import { Json } from "../ui/json.tsx";
import { KeepSample } from "./keep-sample.tsx";
import type { PhoneCall } from "./phone-call.ts";
import { knowsSamplesOnly } from "./recogniser.tsx";
import type { Provider } from "./speech.ts";

export interface TranscriptProps {
  phone: PhoneCall | undefined;
  call: Resource<CallDetails | undefined>;
  recognition: Provider | undefined;
  /** Why no sample can be kept, if so. */
  locked: string | undefined;
  /** A sample was kept. */
  onKept(): void;
}

export function Transcript({ phone, call, recognition, locked, onKept }: TranscriptProps) {
  const [kept, setKept] = useState<{ audio: Int16Array; heard: string }>();
  const id = useId();
  const messages = (call.data?.messages ?? []).filter(({ role }) => role !== "tool_result");
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [messages.length]);
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>Transcript</h2>
      {call.error ? <Failure error={call.error} retry={call.reload} /> : null}
      {messages.length === 0 ? (
        <Empty>{phone ? "Nothing was said yet." : "What is said and done appears here during a call."}</Empty>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div class="transcript" role="log" aria-labelledby={id} tabIndex={0}>
        <ol>
          {messages.map((message) => (
            <Line
              key={message.position}
              message={message}
              result={resultOf(message, call.data?.messages ?? [])}
              recognition={recognition}
              onKeep={
                phone && isOwnSpeech(phone, message)
                  ? () => {
                      const audio = phone.sent.cut(message.start_ms ?? 0, message.end_ms ?? 0);
                      setKept({ audio, heard: message.text });
                    }
                  : undefined
              }
            />
          ))}
        </ol>
        <div ref={end} />
      </div>
      {kept ? (
        <KeepSample {...kept} locked={locked} onKept={onKept} onClose={() => setKept(undefined)} />
      ) : null}
    </section>
  );
}

/** A turn that was said from a sample is one already. */
function isOwnSpeech(phone: PhoneCall, { start_ms, end_ms }: CallMessage): boolean {
  return start_ms !== null && end_ms !== null && !phone.sent.isSample(start_ms, end_ms);
}

function resultOf(
  { role, tool_call_id }: CallMessage,
  messages: readonly CallMessage[],
): CallMessage | undefined {
  if (role !== "tool_call") return undefined;
  return messages.find((each) => each.role === "tool_result" && each.tool_call_id === tool_call_id);
}

interface LineProps {
  message: CallMessage;
  result: CallMessage | undefined;
  recognition: Provider | undefined;
  onKeep: (() => void) | undefined;
}

const WHO = {
  user: { className: "caller", text: "You" },
  unrecognised: { className: "caller", text: "You" },
  assistant: { className: "assistant", text: "Assistant" },
  tool_call: { className: "tool", text: "Tool" },
  tool_result: { className: "tool", text: "Tool" },
} as const;

function Line({ message, result, recognition, onKeep }: LineProps) {
  const { role, text, start_ms, latency } = message;
  const { className, text: who } = WHO[role];
  const isCaller = className === "caller";
  return (
    <li class={className}>
      <span class="mono quiet">{start_ms === null ? "" : formatPosition(start_ms)}</span>
      <span class="who">{who}</span>
      <div class="what">
        {role === "tool_call" ? <Tool call={message} result={result} /> : null}
        {role === "unrecognised" ? <Unrecognised message={message} recognition={recognition} /> : null}
        {isCaller || role === "assistant" ? text : null}
        {latency ? <span class="quiet"> after {formatDuration(latency.turn_ms)}</span> : null}
        {isCaller && onKeep ? (
          <button type="button" class="button small" onClick={onKeep}>
            Keep as sample
          </button>
        ) : null}
      </div>
    </li>
  );
}

function Tool({ call, result }: { call: CallMessage; result: CallMessage | undefined }) {
  return (
    <details>
      <summary>
        <code>{call.name}</code> <span class="quiet">{result ? "has answered" : "is asked"}</span>
      </summary>
      <p class="quiet">Arguments</p>
      <Json value={call.arguments} />
      {result ? <p class="quiet">Result</p> : null}
      {result ? <Json value={parse(result.text)} /> : null}
    </details>
  );
}

/** Results are JSON in one line, or plain text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Unrecognised({ message, recognition }: Pick<LineProps, "message" | "recognition">) {
  const lengthMs = (message.end_ms ?? 0) - (message.start_ms ?? 0);
  const isBuiltIn = recognition !== undefined && knowsSamplesOnly(recognition);
  return (
    <span>
      <span class="tag warn">heard as nothing</span> {formatDuration(lengthMs)} of speech in which nothing was
      recognised, so nobody answers.{" "}
      {isBuiltIn
        ? "The built-in recogniser knows the samples alone: keep this as a sample with its text, or set a transcription server (twins/vapi/README.md)."
        : "The log of the twins says what the transcription server answered."}
    </span>
  );
}
